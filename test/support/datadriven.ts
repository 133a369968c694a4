// Tests written as transcripts: a text file of commands, each with its input, a line `----`, and the expected output up to an empty line.
// An output that has empty lines itself stands between two pairs of `----`. Lines that start with # before a command are comments.
//
//     put key=a value=1
//     ----
//     ok
//
// `npm test -- --rewrite` writes what the commands answered instead of comparing: the diff is then the review.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

/** One command of a transcript. */
export interface Directive {
  readonly command: string;
  /** `key=value` is text, `key=(a, b)` a list, a bare `key` an empty list. */
  readonly parameters: ReadonlyMap<string, readonly string[]>;
  readonly input: string;
  /** `file:line`, for messages. */
  readonly place: string;
}

/** Answers one command; what it throws fails the test at the directive's place. */
export type Answer = (directive: Directive) => string | Promise<string>;

interface Section {
  readonly before: readonly string[];
  readonly directive: Directive;
  readonly heading: readonly string[];
  readonly expected: string;
}

/**
 * Registers one test for each file in the folder `testdata/<name>` beside the source of the test file `moduleUrl`.
 * `begin` is called once a file, and its answerer gets the file's commands in order.
 */
export function transcripts(moduleUrl: string, name: string, begin: () => Answer): void {
  const folder = fileURLToPath(new URL(`testdata/${name}/`, moduleUrl)).replace(/([\\/])dist[\\/]test[\\/]/, '$1test$1');
  for (const entry of readdirSync(folder).sort()) {
    void test(`${name}: ${entry}`, () => replay(folder + entry, begin(), process.argv.includes('--rewrite')));
  }
}

/** Runs the commands of one file and compares, or rewrites the file. */
export async function replay(file: string, answer: Answer, rewrite: boolean): Promise<void> {
  const { sections, rest } = parseTranscript(file, readFileSync(file, 'utf8'));
  const lines: string[] = [];
  for (const { before, directive, heading, expected } of sections) {
    const actual = withFinalNewline(await answer(directive));
    if (!rewrite) assert.equal(actual, expected, `${directive.place}: ${directive.command}`);
    lines.push(...before, ...heading, ...formatOutput(actual));
  }
  if (rewrite) writeFileSync(file, [...lines, ...rest].join('\n'));
}

function parseTranscript(file: string, text: string): { sections: Section[]; rest: string[] } {
  const lines = text.split('\n');
  const sections: Section[] = [];
  let at = 0;
  for (;;) {
    const start = at;
    while (at < lines.length && /^(#|\s*$)/.test(lines[at] as string)) at++;
    if (at >= lines.length) return { sections, rest: lines.slice(start) };
    const before = lines.slice(start, at);
    const first = at;
    const separator = lines.indexOf('----', at);
    assert.ok(separator > first, `${file}:${first + 1}: a command without ----`);
    const heading = lines.slice(first, separator);
    const { expected, next } = readOutput(lines, separator + 1);
    at = next;
    const directive = parseDirective(heading, `${file}:${first + 1}`);
    sections.push({ before, directive, heading, expected });
  }
}

/** The expected output that begins after its `----`, and where the next section begins. */
function readOutput(lines: readonly string[], start: number): { expected: string; next: number } {
  const twice = lines[start] === '----';
  const first = twice ? start + 1 : start;
  let end = first;
  const ends = (at: number): boolean => (twice ? lines[at] === '----' && lines[at + 1] === '----' : lines[at] === '');
  while (end < lines.length && !ends(end)) end++;
  return { expected: withFinalNewline(lines.slice(first, end).join('\n')), next: twice ? end + 2 : end };
}

function parseDirective(heading: readonly string[], place: string): Directive {
  const [words = '', ...input] = heading;
  const command = /^\S+/.exec(words)?.[0] ?? '';
  const parameters = new Map<string, readonly string[]>();
  for (const [, key = '', list, value] of words.slice(command.length).matchAll(/([^\s=]+)(?:=(?:\(([^)]*)\)|(\S*)))?/g)) {
    const values = list === undefined ? (value === undefined ? [] : [value]) : list.split(',').map((item) => item.trim());
    parameters.set(key, values);
  }
  return { command, parameters, input: input.join('\n'), place };
}

function formatOutput(output: string): string[] {
  const lines = output === '' ? [] : output.slice(0, -1).split('\n');
  return lines.some((line) => line === '' || line === '----') ? ['----', '----', ...lines, '----', '----'] : ['----', ...lines];
}

function withFinalNewline(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
