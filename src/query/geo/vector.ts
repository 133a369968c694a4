// Points of the unit sphere as vectors, and the few facts about them that everything else is made of. Angles are in radians.

/** A point of the unit sphere. */
export type Vector = readonly [number, number, number];

/** Metres of MongoDB's earth: distances of GeoJSON are radians times this. */
export const earthRadiusMetres = 6_378_100;

/** What is nearer than this is the same place: a centimetre on the earth, the size of the smallest cell of MongoDB's index. */
export const sameAngle = 1.6e-9;

const radians = Math.PI / 180;

/** The point at a longitude and latitude in degrees. */
export function vectorOf(longitude: number, latitude: number): Vector {
  const [phi, theta] = [latitude * radians, longitude * radians];
  const ring = Math.cos(phi);
  return [ring * Math.cos(theta), ring * Math.sin(theta), Math.sin(phi)];
}

/** Longitude and latitude in degrees. */
export function degreesOf([x, y, z]: Vector): readonly [number, number] {
  return [Math.atan2(y, x) / radians, Math.atan2(z, Math.hypot(x, y)) / radians];
}

/** The scalar product. */
export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/** The vector product: at right angles to both, its length the area between them. */
export function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/** The sum. */
export function add(a: Vector, b: Vector): Vector {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

/** The vector times a number. */
export function scaled(a: Vector, by: number): Vector {
  return [a[0] * by, a[1] * by, a[2] * by];
}

/** The vector at length 1; of the null vector some point. */
export function normalized(a: Vector): Vector {
  const length = Math.hypot(a[0], a[1], a[2]);
  return length === 0 ? [1, 0, 0] : scaled(a, 1 / length);
}

/** The angle between two points, exact also for near and opposite ones. */
export function angleBetween(a: Vector, b: Vector): number {
  const [x, y, z] = cross(a, b);
  return Math.atan2(Math.hypot(x, y, z), dot(a, b));
}

/** The point half way. */
export function middle(a: Vector, b: Vector): Vector {
  return normalized(add(a, b));
}
