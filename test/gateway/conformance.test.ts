// The conformance list over bare sockets: every case on a connection that must carry one more request afterwards (so that a body one byte too long
// or too short is seen), or must be closed. The list runs over every FileStore, and over what the official driver has planted.

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { concatBytes } from '../../src/base/bytes.ts';
import { bucketCases } from './conformance/buckets.ts';
import type { Case, Expected, Stretch } from './conformance/case.ts';
import { conditionCases } from './conformance/conditions.ts';
import { messageCases } from './conformance/messages.ts';
import { pathCases } from './conformance/paths.ts';
import { rangeCases } from './conformance/ranges.ts';
import { plantWorld } from './conformance/world.ts';
import { plantByDriver } from '../support/remote-store.ts';
import { GatewayForTest, jsonOf, requestHead } from './gateway-for-test.ts';
import type { RawAnswer, RawClient } from './gateway-for-test.ts';

const lists: Readonly<Record<string, readonly Case[]>> = { ranges: rangeCases, conditions: conditionCases, paths: pathCases, 'broken buckets': bucketCases, messages: messageCases };

/** The planted world behind one gateway. */
class Subject {
  readonly opened: GatewayForTest;
  readonly #contents: ReadonlyMap<string, Uint8Array>;
  readonly #tags: ReadonlyMap<string, string>;
  #client: RawClient;

  private constructor(opened: GatewayForTest, contents: ReadonlyMap<string, Uint8Array>, tags: ReadonlyMap<string, string>) {
    this.opened = opened;
    this.#contents = contents;
    this.#tags = tags;
    this.#client = opened.client();
  }

  static async open(opened: GatewayForTest, isByDriver: boolean): Promise<Subject> {
    const unplant = isByDriver ? await plantByDriver(opened.opened) : undefined;
    const contents = await plantWorld(opened.opened);
    await unplant?.();
    const tags = new Map<string, string>();
    for (const [name, path] of [['film.mp4', '/files/film.mp4'], ['twin 0', '/files/twin.mp4?revision=0'], ['twin 1', '/files/twin.mp4']] as const) {
      tags.set(name, (await opened.ask('HEAD', path)).fields['etag']!);
    }
    return new Subject(opened, contents, tags);
  }

  #slice([file, first, last]: Stretch): Uint8Array {
    return this.#contents.get(file)!.subarray(first, last + 1);
  }

  /** Sends a case and looks at what comes. */
  async run({ method, target, fields, body, raw, expected }: Case): Promise<void> {
    const given = Object.fromEntries(Object.entries(fields ?? {}).map(([name, value]) => [name, value.replace(/\{([^}]+)\}/g, (_, file: string) => this.#tags.get(file)!)]));
    this.#client.send(raw ?? requestHead(method, target, { ...(body === undefined ? {} : { 'Content-Length': String(body.length) }), ...given }), body);
    const answer = await this.#client.answer({ toHead: method === 'HEAD' });
    try {
      this.#compare(answer, expected);
    } finally {
      await this.#settle(expected);
    }
  }

  #compare(answer: RawAnswer, { status, fields = {}, body, cut = false }: Expected): void {
    assert.equal(answer.status, status, Buffer.from(answer.body.subarray(0, 500)).toString());
    for (const [name, value] of Object.entries(fields)) {
      if (value instanceof RegExp) assert.match(answer.fields[name] ?? 'none', value, name);
      else assert.equal(answer.fields[name], value, name);
    }
    if (answer.status !== 304 && answer.status !== 204) assert.equal(answer.whole, !cut);
    assert.notEqual(answer.fields['date'] ?? answer.status, undefined);
    if (body === undefined) return;
    if (body === '') assert.equal(answer.body.length, 0);
    else if ('code' in body) assertProblem(answer, body.code);
    else if ('parts' in body) this.#compareParts(answer, body.parts);
    else assert.ok(Buffer.from(this.#slice(body)).equals(answer.body), 'the bytes are others');
  }

  #compareParts(answer: RawAnswer, parts: readonly Stretch[]): void {
    const boundary = /boundary=(\S+)$/.exec(answer.fields['content-type']!)![1]!;
    const pieces = parts.flatMap((part, i) => {
      const [file, first, last] = part;
      const length = this.#contents.get(file)!.length;
      return [Buffer.from(`${i === 0 ? '' : '\r\n'}--${boundary}\r\nContent-Type: video/mp4\r\nContent-Range: bytes ${first}-${last}/${length}\r\n\r\n`), this.#slice(part)];
    });
    assert.ok(Buffer.from(concatBytes([...pieces, Buffer.from(`\r\n--${boundary}--\r\n`)])).equals(answer.body), 'the parts are others');
  }

  /** The connection carries another request, or is closed: then the next case gets a new one. */
  async #settle({ closes = false, cut = false }: Expected): Promise<void> {
    const client = this.#client;
    if (closes || cut) {
      await client.closed();
      this.#client = this.opened.client();
      return;
    }
    client.send(requestHead('GET', '/files/two.mp4'));
    const next = await client.answer();
    if (next.status === 200 && next.body.length === 2 && client.received.length === 0) return;
    client.destroy();
    this.#client = this.opened.client();
    assert.fail('the connection does not carry another request');
  }

  async close(): Promise<void> {
    this.#client.destroy();
    await this.opened.close();
  }
}

function assertProblem(answer: RawAnswer, code: string): void {
  assert.equal(answer.fields['content-type'], 'application/problem+json');
  const problem = jsonOf(answer);
  assert.equal(problem['code'], code);
  assert.equal(problem['status'], answer.status);
  assert.equal(problem['request_id'], answer.fields['x-request-id']);
  assert.equal(/stack|node_modules|\.js:|mongodb:/.test(Buffer.from(answer.body).toString()), false);
}

for (const [name, over, isByDriver] of [['embedded store', 'embedded', false], ['remote store', 'remote', false], ['embedded store, planted by the official driver', 'embedded', true]] as const) {
  describe(`a gateway over the ${name}`, () => {
    let subject: Subject;
    before(async () => {
      subject = await Subject.open(await GatewayForTest.open({}, over), isByDriver);
    });
    after(() => subject.close());
    for (const [list, cases] of Object.entries(lists)) {
      describe(list, () => {
        for (const one of cases) test(`${one.name} (${one.rule})`, () => subject.run(one));
      });
    }
  });
}
