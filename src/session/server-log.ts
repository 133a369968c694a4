// The log of the server, one JSON document a line in the shape of MongoDB's structured log: time, severity, component, number of the message,
// where, text, attributes. The last lines are kept for `getLog`; all go to a sink if there is one. Lines never hold what a secret field
// holds: whoever writes one leaves it out.

import { DateTime, Document, toExtendedJson, type Value } from '../bson/index.ts';
import type { Clock } from '../env/index.ts';

/** Fatal, error, warning, information, debug. */
export type Severity = 'F' | 'E' | 'W' | 'I' | 'D1' | 'D2' | 'D3' | 'D4' | 'D5';

/** What a message is about. */
export type LogComponent = 'ACCESS' | 'COMMAND' | 'CONTROL' | 'INDEX' | 'NETWORK' | 'QUERY' | 'REPL' | 'STORAGE' | 'TXN' | 'WRITE' | '-';

/** A kind of message: its number never changes and is never used for another. */
export interface LogMessage {
  readonly severity: Severity;
  readonly component: LogComponent;
  readonly id: number;
  readonly message: string;
}

/** Where lines go besides memory. */
export type LogSink = (line: string, severity: Severity) => void;

/** Lines kept, as MongoDB keeps them. */
const KEPT_LINES = 1024;

const KEPT_WARNINGS = 128;

/** The log. */
export class ServerLog {
  readonly #clock: Clock;
  readonly #sink: LogSink | undefined;
  readonly #recent: string[] = [];
  readonly #startupWarnings: string[] = [];
  #next = 0;
  #written = 0;

  constructor(clock: Clock, sink?: LogSink) {
    this.#clock = clock;
    this.#sink = sink;
  }

  /** Lines written since the start. */
  get written(): number {
    return this.#written;
  }

  get startupWarnings(): readonly string[] {
    return this.#startupWarnings;
  }

  /** Writes one line. Attributes that are undefined are left out. */
  write(message: LogMessage, attributes: Readonly<Record<string, Value | undefined>> = {}, context = 'server'): void {
    const line = this.#format(message, attributes, context);
    if (this.#recent.length < KEPT_LINES) this.#recent.push(line);
    else this.#recent[this.#next] = line;
    this.#next = (this.#next + 1) % KEPT_LINES;
    this.#written += 1;
    this.#sink?.(line, message.severity);
  }

  /** A warning that also stands among those of the start. */
  warnAtStart(message: Omit<LogMessage, 'severity'>, attributes: Readonly<Record<string, Value | undefined>> = {}): void {
    const warning: LogMessage = { ...message, severity: 'W' };
    if (this.#startupWarnings.length < KEPT_WARNINGS) this.#startupWarnings.push(this.#format(warning, attributes, 'initandlisten'));
    this.write(warning, attributes, 'initandlisten');
  }

  /** The lines kept, the oldest first. */
  recent(): readonly string[] {
    if (this.#recent.length < KEPT_LINES) return [...this.#recent];
    return [...this.#recent.slice(this.#next), ...this.#recent.slice(0, this.#next)];
  }

  #format({ severity, component, id, message }: LogMessage, attributes: Readonly<Record<string, Value | undefined>>, context: string): string {
    const attr = Document.of(attributes);
    const line = Document.of({
      t: new DateTime(this.#clock.nowMs()),
      s: severity,
      c: component,
      id,
      ctx: context,
      msg: message,
      attr: attr.isEmpty ? undefined : attr,
    });
    return toExtendedJson(line, 'relaxed');
  }
}
