/** Sources of the repository's packages, by the names in their `exports`. */
export const OWN_PACKAGES: Readonly<Record<string, string>>;

/** Bundles the programs and libraries of the package in a folder. */
export function bundlePackage(folder: string, target: string, sourcemap: boolean): Promise<void>;

/** Resolves with the URL of a bundle's folder. */
export function cachedBundle(name: string): Promise<string>;
