// The end of a pipeline that writes: everything from below goes to a sink of the provider's, then nothing comes out.

import type { BatchSource } from '../session/index.ts';
import { refuse } from '../query/index.ts';
import { drain } from './batches.ts';
import type { OutputRequest, SourceProvider } from './stage.ts';

/** A source that writes all of another one when it is first asked, and gives no document. */
export function written(source: BatchSource, provider: SourceProvider, request: OutputRequest): BatchSource {
  let done = false;
  return {
    async next(context) {
      if (done) return undefined;
      done = true;
      if (provider.openOutput === undefined) throw refuse(20, 'this pipeline may not write');
      const sink = await provider.openOutput(request, context);
      try {
        await drain(source, context, (batch) => sink.write(batch, context));
        await sink.finish(context);
      } catch (error) {
        await sink.abandon();
        throw error;
      } finally {
        source.close();
      }
      return undefined;
    },
    close: () => source.close(),
  };
}
