// A promise and the function that ends it.

export interface Deferred {
  readonly promise: Promise<void>;
  readonly end: () => void;
}

/** A promise that stays open until its `end` is called; a second call does nothing. */
export function deferred(): Deferred {
  let end: () => void = () => undefined;
  const promise = new Promise<void>((resolve) => {
    end = resolve;
  });
  return { promise, end };
}
