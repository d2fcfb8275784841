declare module "proper-lockfile/lib/lockfile.js" {
	/** The locks that are held, by path: the library's own object. */
	export function getLocks(): Record<string, unknown>;
}
