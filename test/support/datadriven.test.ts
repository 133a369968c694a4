// The data-driven runner itself: what a transcript may look like, that a difference fails, and that a rewrite changes outputs only.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { replay, transcripts, type Directive } from './datadriven.ts';

async function withTranscript(text: string, use: (file: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'transcript-'));
  const file = join(folder, 'transcript');
  try {
    writeFileSync(file, text);
    await use(file);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const transcript = `# What stands before a command is kept.

echo to=(a, b) from=c loud
first

third
----
----
first

third
----
----

# A command without input or output.
nothing
----

echo
last
----
last
`;

function echo(directive: Directive): string {
  return directive.command === 'echo' ? directive.input : '';
}

void test('a transcript whose outputs are what the commands answer passes, and a rewrite leaves it as it is', async () => {
  await withTranscript(transcript, async (file) => {
    await replay(file, echo, false);
    await replay(file, echo, true);
    assert.equal(readFileSync(file, 'utf8'), transcript);
  });
});

void test('a command gets its name, its parameters, its input and its place', async () => {
  await withTranscript(transcript, async (file) => {
    const seen: Directive[] = [];
    await replay(file, (directive) => (seen.push(directive), echo(directive)), false);
    assert.deepEqual(seen[0], {
      command: 'echo',
      parameters: new Map([
        ['to', ['a', 'b']],
        ['from', ['c']],
        ['loud', []],
      ]),
      input: 'first\n\nthird',
      place: `${file}:3`,
    });
    assert.deepEqual(
      seen.map((directive) => directive.command),
      ['echo', 'nothing', 'echo'],
    );
  });
});

void test('another output fails and names the place of its command', async () => {
  await withTranscript(transcript, async (file) => {
    await assert.rejects(replay(file, () => 'other', false), { message: /transcript:3: echo/ });
  });
});

void test('a rewrite puts in the new outputs and keeps all else', async () => {
  await withTranscript(transcript, async (file) => {
    await replay(file, (directive) => (directive.command === 'nothing' ? 'some\n\nthing' : echo(directive)), true);
    assert.equal(readFileSync(file, 'utf8'), transcript.replace('nothing\n----\n', 'nothing\n----\n----\nsome\n\nthing\n----\n----\n'));
  });
});

void test('a command without its line of dashes is refused', async () => {
  await withTranscript('echo\nnever ended\n', async (file) => {
    await assert.rejects(replay(file, echo, false), { message: /transcript:1: a command without ----/ });
  });
});

// The folder's transcripts become tests; each gets an answerer of its own, so the count begins again.
transcripts(import.meta.url, 'counting', () => {
  let count = 0;
  return ({ command, parameters }) => (command === 'count' ? String((count += Number(parameters.get('by')?.[0] ?? 1))) : `no command ${command}`);
});
