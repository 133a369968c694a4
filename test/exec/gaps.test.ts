// `$densify`, `$fill` and the window operators behind them, by the examples of the manual.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { DateTime } from '../../src/bson/index.ts';
import { aggregate } from './memory-provider.ts';

const coffee = [
  { _id: 1, altitude: 600, variety: 'Arabica Typica', score: 68 },
  { _id: 2, altitude: 750, variety: 'Arabica Typica', score: 69 },
  { _id: 3, altitude: 950, variety: 'Arabica Typica', score: 71 },
  { _id: 4, altitude: 1250, variety: 'Gesha', score: 75 },
  { _id: 5, altitude: 1700, variety: 'Gesha', score: 78 },
];

async function altitudes(range: object, partitionByFields?: string[]): Promise<unknown[]> {
  const stage = { $densify: { field: 'altitude', ...(partitionByFields === undefined ? {} : { partitionByFields }), range } };
  const found = await aggregate({ coffee }, 'coffee', [stage, { $sort: { variety: 1, altitude: 1 } }]);
  return found.map((row) => {
    const { _id, altitude, variety } = row as Partial<(typeof coffee)[number]>;
    return `${variety ?? ''} ${String(altitude)}${_id === undefined ? ' made' : ''}`;
  });
}

const day = (number: number): DateTime => new DateTime(Date.UTC(2021, 4, number));

describe('$densify', () => {
  it('fills a partition between its own least and greatest values', async () => {
    assert.deepEqual(await altitudes({ bounds: 'partition', step: 200 }, ['variety']), [
      'Arabica Typica 600',
      'Arabica Typica 750',
      'Arabica Typica 800 made',
      'Arabica Typica 950',
      'Gesha 1250',
      'Gesha 1450 made',
      'Gesha 1650 made',
      'Gesha 1700',
    ]);
  });

  it('fills each partition over the range of all of them', async () => {
    assert.deepEqual(await altitudes({ bounds: 'full', step: 200 }, ['variety']), [
      'Arabica Typica 600',
      'Arabica Typica 750',
      'Arabica Typica 800 made',
      'Arabica Typica 950',
      'Arabica Typica 1000 made',
      'Arabica Typica 1200 made',
      'Arabica Typica 1400 made',
      'Arabica Typica 1600 made',
      'Gesha 600 made',
      'Gesha 800 made',
      'Gesha 1000 made',
      'Gesha 1200 made',
      'Gesha 1250',
      'Gesha 1400 made',
      'Gesha 1600 made',
      'Gesha 1700',
    ]);
  });

  it('fills an explicit range, whose upper bound is outside, by calendar units', async () => {
    const weather = [
      { _id: 1, at: new DateTime(Date.UTC(2021, 4, 18, 0)), temp: 12 },
      { _id: 2, at: new DateTime(Date.UTC(2021, 4, 18, 4)), temp: 11 },
    ];
    const bounds = [new DateTime(Date.UTC(2021, 4, 18, 0)), new DateTime(Date.UTC(2021, 4, 18, 6))];
    const found = await aggregate({ weather }, 'weather', [{ $densify: { field: 'at', range: { step: 1, unit: 'hour', bounds } } }]);
    const hours = found.map((row) => (row as { at: DateTime }).at.ms / 3_600_000 - bounds[0]!.ms / 3_600_000);
    assert.deepEqual(hours, [0, 1, 2, 3, 4, 5]);
    assert.deepEqual(found.filter((row) => (row as { _id?: number })._id !== undefined).length, 2);
  });

  it('lets documents without the field through, and refuses values of another kind', async () => {
    const docs = [{ _id: 1 }, { _id: 2, v: null }, { _id: 3, v: 1 }, { _id: 4, v: 3 }];
    const stage = { $densify: { field: 'v', range: { step: 1, bounds: 'full' } } };
    assert.deepEqual(await aggregate({ docs }, 'docs', [stage]), [{ _id: 1 }, { _id: 2, v: null }, { _id: 3, v: 1 }, { v: 2 }, { _id: 4, v: 3 }]);
    await assert.rejects(aggregate({ docs: [{ v: 'x' }] }, 'docs', [stage]), { code: 5733201 });
    const mixed = { $densify: { field: 'v', range: { step: 1, bounds: [1, { $double: 5 }] } } };
    await assert.rejects(aggregate({ docs }, 'docs', [mixed]), { code: 5876900 });
  });
});

describe('$fill', () => {
  const stock = [
    { time: 1, price: 500 },
    { time: 2 },
    { time: 3, price: 515 },
    { time: 4 },
    { time: 5 },
    { time: 6, price: 485 },
  ];

  it('carries the last value on', async () => {
    const found = await aggregate({ stock }, 'stock', [{ $fill: { sortBy: { time: 1 }, output: { price: { method: 'locf' } } } }]);
    assert.deepEqual(found.map((row) => (row as { price: number }).price), [500, 500, 515, 515, 515, 485]);
  });

  it('draws a line between the values on both sides, nothing beyond them', async () => {
    const all = [...stock, { time: 7 }];
    const found = await aggregate({ all }, 'all', [{ $fill: { sortBy: { time: 1 }, output: { price: { method: 'linear' } } } }]);
    const prices = found.map((row) => (row as { price: unknown }).price);
    assert.deepEqual(prices, [500, { $double: 507.5 }, 515, { $double: 505 }, { $double: 495 }, 485, null]);
  });

  it('puts a value in, and refuses a rule that is none', async () => {
    const found = await aggregate({ stock }, 'stock', [{ $fill: { output: { price: { value: 0 } } } }]);
    assert.deepEqual(found.map((row) => (row as { price: number }).price), [500, 0, 515, 0, 0, 485]);
    const twice = { $fill: { output: { price: { value: 0, method: 'locf' } } } };
    await assert.rejects(aggregate({ stock }, 'stock', [twice]), { code: 6050201 });
    await assert.rejects(aggregate({ stock }, 'stock', [{ $fill: { output: {} } }]), { code: 6050203 });
  });
});

describe('rates and averages over windows', () => {
  it('gives the average speed of each window in the unit asked for', async () => {
    const seconds = (at: number): DateTime => new DateTime(Date.UTC(2020, 4, 18, 14, 10, at));
    const trips = [{ miles: 1295.1, at: seconds(30) }, { miles: 1295.63, at: seconds(60) }, { miles: 1296.25, at: seconds(90) }];
    const found = await aggregate({ trips }, 'trips', [
      { $setWindowFields: { sortBy: { at: 1 }, output: { v: { $derivative: { input: '$miles', unit: 'hour' }, window: { range: [-30, 0], unit: 'second' } } } } },
    ]);
    const speeds = found.map((row) => (row as { v: { $double: number } | null }).v);
    assert.equal(speeds[0], null);
    assert.ok(Math.abs((speeds[1]?.$double ?? 0) - 63.6) < 1e-6);
    assert.ok(Math.abs((speeds[2]?.$double ?? 0) - 74.4) < 1e-6);
  });

  it('adds up the area under power by hours', async () => {
    const meter = [{ at: day(18), kilowatts: 2.95 }, { at: new DateTime(day(18).ms + 30_000), kilowatts: 2.7 }];
    const found = await aggregate({ meter }, 'meter', [
      { $setWindowFields: { sortBy: { at: 1 }, output: { v: { $integral: { input: '$kilowatts', unit: 'hour' }, window: { range: ['unbounded', 'current'], unit: 'hour' } } } } },
    ]);
    const [first, second] = found.map((row) => (row as { v: { $double: number } }).v.$double);
    assert.equal(first, 0);
    assert.ok(Math.abs((second ?? 0) - ((2.95 + 2.7) / 2) * (30 / 3600)) < 1e-12);
  });

  it('weighs older prices less and less', async () => {
    const prices = [13, 15.4, 12, 11.7].map((price, index) => ({ at: index, price }));
    const found = await aggregate({ prices }, 'prices', [{ $setWindowFields: { sortBy: { at: 1 }, output: { v: { $expMovingAvg: { input: '$price', N: 2 } } } } }]);
    assert.deepEqual(
      found.map((row) => (row as { v: { $double: number } }).v.$double),
      [13, 14.6, 12.866666666666667, 12.088888888888889],
    );
    const both = { $setWindowFields: { sortBy: { at: 1 }, output: { v: { $expMovingAvg: { input: '$price', N: 2, alpha: 0.5 } } } } };
    await assert.rejects(aggregate({ prices }, 'prices', [both]), { code: 9 });
  });
});
