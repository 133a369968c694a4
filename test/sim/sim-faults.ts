// The faults that a test asks for, counted over the I/O operations of one run: the n-th fails, once or from then on; the n-th never
// happens because the power goes. Counting by kind, so that a loop over n ends when a whole run has no n-th operation left.

/** The operations that a simulated disk is asked for. */
export type Operation =
  | 'open'
  | 'create'
  | 'read'
  | 'write'
  | 'sync'
  | 'truncate'
  | 'rename'
  | 'remove'
  | 'makeDirectory'
  | 'syncDirectory';

const everyOperation: readonly Operation[] = [
  'open',
  'create',
  'read',
  'write',
  'sync',
  'truncate',
  'rename',
  'remove',
  'makeDirectory',
  'syncDirectory',
];

/** Operations that change the disk: between two of them, all moments to crash are alike. */
const changingOperations: readonly Operation[] = everyOperation.filter((kind) => kind !== 'open' && kind !== 'read');

/** Operations that a full disk refuses. */
const spaceOperations: readonly Operation[] = ['create', 'write', 'truncate', 'makeDirectory'];

/** A failure to come. */
export interface FailurePlan {
  /** Which operation fails, from 1. */
  readonly at: number;
  readonly code: 'io' | 'no-space';
  /** Whether all later ones (of these kinds) fail as well, until `heal`. */
  readonly lasting: boolean;
  /** What is counted and can fail; by default every operation for `io`, those that take space for `no-space`. */
  readonly kinds?: readonly Operation[];
  /** Count and fail only operations on paths that contain this. */
  readonly pathPart?: string;
}

/** Counts operations and says which fail. */
export class SimFaults {
  #failure: FailurePlan | undefined;
  #failureCount = 0;
  #failures = 0;
  #failedAtMs = Infinity;
  #crashAt = Infinity;
  #crashKinds: ReadonlySet<Operation> = new Set(changingOperations);
  #crashCount = 0;

  /** Lets the n-th operation from now on fail. */
  failAt(plan: FailurePlan): void {
    this.#failure = plan;
    this.#failureCount = 0;
  }

  /** Whether a failure is to come. */
  get isPlanned(): boolean {
    return this.#failure !== undefined;
  }

  /** No planned failure any more. */
  heal(): void {
    this.#failure = undefined;
  }

  /** Turns the power off at the n-th operation from now on, of these kinds; it has begun and is not over. */
  crashAt(at: number, kinds: readonly Operation[] = changingOperations): void {
    this.#crashAt = at;
    this.#crashKinds = new Set(kinds);
    this.#crashCount = 0;
  }

  /** Failures that were injected. */
  get failures(): number {
    return this.#failures;
  }

  /** Virtual time at which the first failed operation was answered; Infinity before. */
  get failedAtMs(): number {
    return this.#failedAtMs;
  }

  /** An operation was answered with a failure. */
  note(timeMs: number): void {
    this.#failedAtMs = Math.min(this.#failedAtMs, timeMs);
  }

  /** Counts an operation that is about to begin; true when the power goes with it. */
  crashesAt(kind: Operation): boolean {
    if (!this.#crashKinds.has(kind)) return false;
    this.#crashCount++;
    return this.#crashCount === this.#crashAt;
  }

  /** Counts an operation that is about to begin; the code it will fail with, if it will. */
  failureOf(kind: Operation, path: string): 'io' | 'no-space' | undefined {
    const plan = this.#failure;
    if (plan === undefined) return undefined;
    const kinds = plan.kinds ?? (plan.code === 'no-space' ? spaceOperations : everyOperation);
    if (!kinds.includes(kind) || !path.includes(plan.pathPart ?? '')) return undefined;
    this.#failureCount++;
    const fails = plan.lasting ? this.#failureCount >= plan.at : this.#failureCount === plan.at;
    if (fails) this.#failures++;
    return fails ? plan.code : undefined;
  }
}
