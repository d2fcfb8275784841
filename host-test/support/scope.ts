/** Whether the full matrix runs: `npm run test:all`. */
export const IS_FULL = process.env.XS_MCP_TESTS === "all";

/** The cases of a matrix to run: every one in `npm run test:all`, the first in `npm test`. */
export function cases<T>(all: readonly T[]): readonly T[] {
	return IS_FULL ? all : all.slice(0, 1);
}
