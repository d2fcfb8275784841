/** Links that npm shows for a package. */
interface RepositoryLinks {
	readonly repository?: { readonly type: "git"; readonly url: string; readonly directory: string };
	readonly bugs?: string;
	readonly homepage?: string;
}

/**
 * Derives a package's links from `repository` of the root package.json.
 * @param repository "github:OWNER/NAME"; without it there are no links
 * @param directory the package's folder
 */
export function repositoryLinks(repository: string | undefined, directory: string): RepositoryLinks {
	if (repository === undefined) {
		return {};
	}
	const home = repository.replace(/^github:/, "https://github.com/");
	return {
		repository: { type: "git", url: `git+${home}.git`, directory },
		bugs: `${home}/issues`,
		homepage: `${home}/tree/main/${directory}#readme`,
	};
}
