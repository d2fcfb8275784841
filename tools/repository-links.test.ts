import assert from "node:assert/strict";
import { it } from "node:test";
import { repositoryLinks } from "./repository-links.js";

it("a package's links follow from the repository of the root package.json", () => {
	assert.deepEqual(repositoryLinks("github:maker/xs-mcp", "packages/gateway"), {
		repository: { type: "git", url: "git+https://github.com/maker/xs-mcp.git", directory: "packages/gateway" },
		bugs: "https://github.com/maker/xs-mcp/issues",
		homepage: "https://github.com/maker/xs-mcp/tree/main/packages/gateway#readme",
	});
});

it("a package has no links while the repository has no address", () => {
	assert.deepEqual(repositoryLinks(undefined, "packages/gateway"), {});
});
