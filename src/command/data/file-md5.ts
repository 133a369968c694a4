// filemd5: the checksum of a GridFS file, which drivers of before MongoDB 6.0 ask for after they stored one.

import { CommandError } from '../../base/errors.ts';
import { Md5 } from '../../base/md5.ts';
import { Binary, Document, type Value } from '../../bson/index.ts';
import { namespaceOf, type CatalogTransaction } from '../../catalog/index.ts';
import { planQuery } from '../../plan/index.ts';
import { compileFilter, compileSort } from '../../query/index.ts';
import { defineCommand, type Command, type CommandContext } from '../command.ts';
import { anyField, boolField, required, stringField } from '../fields.ts';
import { queryOptions } from '../query-options.ts';
import { reading } from '../storage-scope.ts';

function missingChunk(n: number): CommandError {
  return new CommandError(10040, 'Location10040', `chunks out of order: chunk ${String(n)} is missing`);
}

async function sumOf(context: CommandContext, txn: CatalogTransaction, { file, root }: { file: Value; root: string }): Promise<{ chunks: number; md5: string }> {
  const ns = namespaceOf(context.db, `${root}.chunks`);
  const collection = await context.server.catalog.collection(txn, ns);
  const filter = compileFilter(Document.fromEntries([['files_id', file]]), queryOptions(context));
  const request = { filter, sort: compileSort(Document.of({ files_id: 1, n: 1 })) };
  const source = (await planQuery({ txn, ns, collection }, request, context.operation)).open();
  const md5 = new Md5();
  let chunks = 0;
  try {
    for (;;) {
      const batch = await source.next(context.operation);
      if (batch === undefined) return { chunks, md5: md5.digest() };
      for (const chunk of batch) {
        const data = chunk.get('data');
        if (Number(chunk.get('n')) !== chunks || !(data instanceof Binary)) throw missingChunk(chunks);
        md5.update(data.bytes);
        chunks += 1;
      }
      await context.operation.turn();
      await context.server.env.tasks.pause();
    }
  } finally {
    source.close();
  }
}

export const fileMd5: Command = defineCommand({
  name: 'filemd5',
  access: 'read',
  about: 'the MD5 checksum of a GridFS file',
  fields: { filemd5: required(anyField), root: stringField, partialOk: boolField, startAt: anyField, md5state: anyField },
  run: async (context, { filemd5: file, root }) => {
    const { chunks, md5 } = await reading(context, (txn) => sumOf(context, txn, { file, root: root ?? 'fs' }));
    return { numChunks: chunks, md5 };
  },
});
