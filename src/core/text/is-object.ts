// Looked up once: XS searches the global object, and `Array`, at each use.
const { isArray } = Array;

/** Whether a value is an object in JSON's sense: not null, not an array. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !isArray(value);
