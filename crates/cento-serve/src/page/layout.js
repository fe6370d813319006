// Places files on the plane so that their distances are close to the wanted ones.
//
// Hill climbing: from several starts, each on a circle in another order, every vertex is moved to where
// its neighbors want it until that gains nothing more (stress majorisation), and the arrangement with
// the least stress is taken. Nothing is random, so the same files are always at the same places.

const STEPS_MAX = 400;
const STRIDES = [1, 2, 3, 5];
/** The distance of the centers of identical files, which must remain distinguishable and have an edge. */
const DISTANCE_MIN = 32;
/** Less would be drawn off every screen. */
const SIMILARITY_MIN = 1e-4;
/** What has no edge matters little. */
const WEIGHT_WITHOUT_EDGE = 0.02;
/** An arrangement smaller than this stands upright, for names to its sides. */
const SHORT = 100;
/** What names at both ends of an arrangement take, about. */
const NAMES_WIDTH = 160;

/** The distance of two files in pixels, after Finkel et al. (2002), section 2.6. */
export function distanceOf(similarity) {
  return Math.max(Math.ceil(-100 * Math.log(Math.max(similarity, SIMILARITY_MIN))), 0);
}

/**
 * The groups of `size` vertices that edges `{ a, b, distance }` connect, the largest first: each has its
 * `members`, and their `places` relative to each other. They lie level if there is so much `width`.
 */
export function arrange(size, edges, width) {
  const groups = components(size, edges).map((members) => {
    const number = new Map(members.map((vertex, index) => [vertex, index]));
    const inside = edges
      .filter(({ a }) => number.has(a))
      .map(({ a, b, distance }) => ({ a: number.get(a), b: number.get(b), distance }));
    return { members, places: turned(arrangeConnected(members.length, inside), width) };
  });
  return groups.sort((a, b) => b.members.length - a.members.length);
}

/** The places `{ left, top }` of boxes `{ wide, high }` beside and below each other, within this width. */
export function pack(boxes, width, gap) {
  let [left, top, bottom] = [0, 0, 0];
  return boxes.map(({ wide, high }) => {
    if (left > 0 && left + wide > width) {
      left = 0;
      top = bottom + gap;
    }
    const place = { left, top };
    left += wide + gap;
    bottom = Math.max(bottom, top + high);
    return place;
  });
}

function components(size, edges) {
  const group = Array.from({ length: size }, (_, vertex) => vertex);
  const root = (vertex) => (group[vertex] === vertex ? vertex : root(group[vertex]));
  for (const { a, b } of edges) group[Math.max(root(a), root(b))] = Math.min(root(a), root(b));
  const members = new Map();
  for (let vertex = 0; vertex < size; vertex += 1) {
    const first = root(vertex);
    if (!members.has(first)) members.set(first, []);
    members.get(first).push(vertex);
  }
  return [...members.values()];
}

/** What each pair wants: the distance of its edge, or else the shortest way along edges. */
function wishes(size, edges) {
  const target = Array.from({ length: size }, (_, a) =>
    Array.from({ length: size }, (_, b) => (a === b ? 0 : Infinity)));
  for (const { a, b, distance } of edges) {
    target[a][b] = DISTANCE_MIN + distance;
    target[b][a] = target[a][b];
  }
  const direct = target.map((row) => [...row]);
  for (let via = 0; via < size; via += 1) {
    for (let a = 0; a < size; a += 1) {
      for (let b = 0; b < size; b += 1) {
        target[a][b] = Math.min(target[a][b], target[a][via] + target[via][b]);
      }
    }
  }
  return direct.map((row, a) => row.map((edge, b) => (edge < Infinity
    ? { target: edge, weight: 1 / edge ** 2 }
    : { target: target[a][b], weight: WEIGHT_WITHOUT_EDGE / target[a][b] ** 2 })));
}

/** The wish of a pair at this distance: before anything else no vertex covers another. */
function wishAt(wish, distance) {
  const isCovered = distance < DISTANCE_MIN && wish.target > distance;
  return isCovered ? { target: DISTANCE_MIN, weight: 1 / DISTANCE_MIN ** 2 } : wish;
}

function arrangeConnected(size, edges) {
  if (size === 1) return [{ x: 0, y: 0 }];
  const wanted = wishes(size, edges);
  const longest = Math.max(...wanted.flat().map(({ target }) => target));
  let best = null;
  for (const stride of STRIDES) {
    const places = onCircle(size, stride, longest / 2);
    const stress = climb(places, wanted);
    if (best === null || stress < best.stress - 1e-9) best = { stress, places };
  }
  return best.places;
}

function onCircle(size, stride, radius) {
  return Array.from({ length: size }, (_, vertex) => {
    // The addition keeps vertices apart that a stride puts at the same place.
    const angle = (2 * Math.PI * ((vertex * stride) % size)) / size + vertex * 0.01;
    return { x: radius * Math.cos(angle), y: radius * Math.sin(angle) };
  });
}

function stressOf(places, wanted) {
  let stress = 0;
  for (let a = 0; a < places.length; a += 1) {
    for (let b = 0; b < a; b += 1) {
      const distance = Math.hypot(places[a].x - places[b].x, places[a].y - places[b].y);
      const { target, weight } = wishAt(wanted[a][b], distance);
      stress += weight * (distance - target) ** 2;
    }
  }
  return stress;
}

function climb(places, wanted) {
  let stress = stressOf(places, wanted);
  for (let step = 0; step < STEPS_MAX; step += 1) {
    for (let a = 0; a < places.length; a += 1) moveToWish(places, a, wanted[a]);
    const now = stressOf(places, wanted);
    if (Math.abs(stress - now) < 1e-6 * stress) return now;
    stress = now;
  }
  return stress;
}

function moveToWish(places, a, wanted) {
  const here = places[a];
  let sum = 0;
  let x = 0;
  let y = 0;
  for (let b = 0; b < places.length; b += 1) {
    if (b === a) continue;
    const there = places[b];
    const distance = Math.max(Math.hypot(here.x - there.x, here.y - there.y), 1e-6);
    const { target, weight } = wishAt(wanted[b], distance);
    x += weight * (there.x + (target * (here.x - there.x)) / distance);
    y += weight * (there.y + (target * (here.y - there.y)) / distance);
    sum += weight;
  }
  places[a] = { x: x / sum, y: y / sum };
}

/**
 * Turns an arrangement so that its longest way lies level. It stands if there is no room for that, or if
 * it is so short that names have more room at its sides.
 */
function turned(places, width) {
  const center = {
    x: places.reduce((sum, { x }) => sum + x, 0) / places.length,
    y: places.reduce((sum, { y }) => sum + y, 0) / places.length,
  };
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of places) {
    xx += (x - center.x) ** 2;
    xy += (x - center.x) * (y - center.y);
    yy += (y - center.y) ** 2;
  }
  const angle = -Math.atan2(2 * xy, xx - yy) / 2;
  const level = rotated(places, center, angle);
  const xs = level.map(({ x }) => x);
  const extent = Math.max(...xs) - Math.min(...xs);
  const stands = extent < SHORT || extent + NAMES_WIDTH > width;
  return stands ? rotated(places, center, angle + Math.PI / 2) : level;
}

function rotated(places, center, angle) {
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return places.map(({ x, y }) => ({
    x: (x - center.x) * cos - (y - center.y) * sin,
    y: (x - center.x) * sin + (y - center.y) * cos,
  }));
}
