// What a frozen directory of a server holds: collections of every kind with indexes of every kind that keeps entries of its own, a view, a validator,
// a bucket of GridFS, a user. Never changed: a directory that was frozen with it must open for ever.

import { Decimal128, GridFSBucket, Long, ObjectId, type MongoClient } from 'mongodb';

const people = 400;

/** Every BSON type that applications use, in one document. */
const allTypes = {
  _id: 'types', int: 7, double: 1.5, long: Long.fromString('9007199254740993'), decimal: Decimal128.fromString('19.99'), text: 'Grüße', yes: true, nothing: null,
  when: new Date(1_400_000_000_000), id: new ObjectId('0123456789abcdef01234567'), list: [1, 'two', { three: 3 }], nested: { a: { b: { c: 1 } } }, bytes: Buffer.from([1, 2, 3]),
};

const person = (i: number): Record<string, unknown> => ({
  _id: i, name: `Person ${String(i)}`, city: `City ${String(i % 20)}`, age: i % 90, tags: [`t${String(i % 5)}`, `t${String(i % 7)}`], unique: `u${String(i)}`, ...(i % 4 === 0 ? { rare: i } : {}),
});

/** Fills a new server. */
export async function fillServer(client: MongoClient): Promise<void> {
  const db = client.db('frozen');
  const collection = db.collection<{ _id: number | string }>('people');
  await collection.insertMany(Array.from({ length: people }, (_, i) => person(i) as { _id: number }));
  const indexes = [
    { key: { city: 1, age: -1 }, name: 'city_age' }, { key: { unique: 1 }, name: 'unique', unique: true }, { key: { tags: 1 }, name: 'tags' },
    { key: { rare: 1 }, name: 'rare', sparse: true }, { key: { age: 1 }, name: 'old', partialFilterExpression: { age: { $gt: 60 } } },
    { key: { age: 1, _id: 1 }, name: 'clustered', clustering: true }, { key: { name: 1 }, name: 'collated', collation: { locale: 'de', strength: 2 } },
  ];
  await db.command({ createIndexes: 'people', indexes });
  await collection.updateMany({ age: 30 }, { $set: { city: 'Moved' } });
  await collection.deleteMany({ _id: { $gte: 300, $lt: 320 } });
  await db.createCollection('ring', { capped: true, size: 4096, max: 10 });
  await db.collection('ring').insertMany(Array.from({ length: 25 }, (_, i) => ({ i })));
  await db.createCollection('grown', { viewOn: 'people', pipeline: [{ $match: { age: { $gte: 18 } } }] });
  await db.createCollection('checked', { validator: { $jsonSchema: { required: ['a'] } } });
  await db.collection('checked').insertOne({ _id: 1, a: 1 } as object);
  await db.collection('types').insertOne({ ...allTypes } as object);
  const upload = new GridFSBucket(db).openUploadStream('film.txt', { chunkSizeBytes: 4096 });
  for (let i = 0; i < 8; i++) upload.write(Buffer.alloc(3000, 97 + i));
  await new Promise<void>((resolve, reject) => upload.on('finish', resolve).on('error', reject).end());
  await db.command({ createUser: 'reader', pwd: 'secret', roles: ['read'] });
}

/** What a server over the directory must answer, as questions and answers. */
export async function askServer(client: MongoClient): Promise<Record<string, unknown>> {
  const db = client.db('frozen');
  const collection = db.collection('people');
  const types = (await db.collection<{ _id: string }>('types').findOne({ _id: 'types' }, { promoteValues: false })) ?? {};
  const film: Uint8Array[] = [];
  for await (const chunk of new GridFSBucket(db).openDownloadStreamByName('film.txt')) film.push(chunk as Uint8Array);
  const answers: Record<string, unknown> = {
    people: await collection.countDocuments({}),
    moved: await collection.countDocuments({ city: 'Moved' }),
    tagged: await collection.countDocuments({ tags: 't3' }, { hint: 'tags' }),
    old: await collection.countDocuments({ age: { $gt: 60 } }, { hint: 'old' }),
    rare: await collection.countDocuments({ rare: { $gte: 0 } }, { hint: 'rare' }),
    clustered: (await collection.find({ age: 17 }, { hint: 'clustered' }).toArray()).length,
    collated: await collection.countDocuments({ name: 'PERSON 7' }, { collation: { locale: 'de', strength: 2 }, hint: 'collated' }),
    ring: (await db.collection('ring').find().toArray()).map(({ i }) => Number(i)),
    grown: await db.collection('grown').countDocuments({}),
    types: JSON.stringify(types),
    film: Buffer.concat(film).length,
    users: ((await db.command({ usersInfo: 1 }))['users'] as { user: string }[]).map(({ user }) => user),
  };
  await collection.insertOne(person(1) as { _id: never }).catch((error: unknown) => (answers['duplicate'] = (error as { code: number }).code));
  await db.collection('checked').insertOne({ b: 1 }).catch((error: unknown) => (answers['invalid'] = (error as { code: number }).code));
  for (const { name } of await db.listCollections({ type: 'collection' }).toArray()) answers[`valid ${name}`] = (await db.command({ validate: name }))['valid'];
  return answers;
}

/** The right answers, from the content above. */
export const rightAnswers: Record<string, unknown> = {
  people: people - 20,
  moved: expected((i) => i % 90 === 30),
  tagged: expected((i) => i % 5 === 3 || i % 7 === 3),
  old: expected((i) => i % 90 > 60),
  rare: expected((i) => i % 4 === 0),
  clustered: expected((i) => i % 90 === 17),
  collated: 1,
  ring: [15, 16, 17, 18, 19, 20, 21, 22, 23, 24],
  grown: expected((i) => i % 90 >= 18),
  film: 24_000,
  users: ['reader'],
  duplicate: 11000,
  invalid: 121,
};

function expected(holds: (i: number) => boolean): number {
  return Array.from({ length: people }, (_, i) => i).filter((i) => (i < 300 || i >= 320) && holds(i)).length;
}
