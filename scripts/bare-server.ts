// A server that answers every message of the protocol with the same document and does nothing: what sockets, Node and the driver's manners cost any
// server. `server-cpu.ts` starts it and measures it the same way. Prints its address as `frond serve` does. With a path as argument it makes a log there
// and answers after a durable write of 4 KiB to it, one for all messages that came together: what no server that keeps what it acknowledges can be below.

import { closeSync, constants, fsyncSync, openSync, writeSync } from 'node:fs';
import { createServer } from 'node:net';
import { BsonArray, Document, Double } from '../src/bson/index.ts';
import { encodeAnswer, MessageReader, parseMessage } from '../src/wire/index.ts';

const logBytes = 8 * 1024 * 1024;
const page = new Uint8Array(4096);

/** Lets callbacks wait for a durable write, in groups as a server's log has them: to a file that is full already, on the main thread. */
function durableLog(path: string): (done: () => void) => void {
  const fresh = openSync(path, 'w');
  writeSync(fresh, new Uint8Array(logBytes));
  fsyncSync(fresh);
  closeSync(fresh);
  const log = openSync(path, constants.O_RDWR | constants.O_DSYNC);
  let at = 0;
  let waiting: (() => void)[] = [];
  const write = (): void => {
    page[0] = (page[0] ?? 0) + 1;
    writeSync(log, page, 0, page.length, at);
    at = (at + page.length) % logBytes;
    const all = waiting;
    waiting = [];
    for (const done of all) done();
  };
  return (done) => {
    if (waiting.push(done) === 1) setImmediate(write);
  };
}

const [path] = process.argv.slice(2);
const whenSafe = path === undefined ? (done: () => void): void => { done(); } : durableLog(path);

const hello = Document.of({ ismaster: true, isWritablePrimary: true, maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000, minWireVersion: 0, maxWireVersion: 21, readOnly: false, ok: new Double(1) });
const done = Document.of({ n: 1, cursor: Document.of({ firstBatch: BsonArray.empty, id: 0n, ns: 'a.b' }), ok: new Double(1) });

const server = createServer({ noDelay: true }, (socket) => {
  const reader = new MessageReader();
  socket.on('data', (chunk: Uint8Array) => {
    reader.push(chunk);
    for (let bytes = reader.next(); bytes !== undefined; bytes = reader.next()) {
      const message = parseMessage(bytes, []);
      const name = message.body.first?.[0].toLowerCase();
      const reply = name === 'hello' || name === 'ismaster' ? hello : done;
      whenSafe(() => {
        for (const part of encodeAnswer(message, { requestId: 1, moreToCome: false }, reply, [])) socket.write(part);
      });
    }
  });
  socket.on('error', () => socket.destroy());
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') console.log(`listening on mongodb://127.0.0.1:${String(address.port)}/`);
});
process.once('SIGTERM', () => process.exit(0));
