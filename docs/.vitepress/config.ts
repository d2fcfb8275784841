// The documentation as a site: https://vitepress.dev/reference/site-config
import { readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { type DefaultTheme, defineConfig } from "vitepress";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Address of the repository, "github:OWNER/NAME". Without it, links to files that are not pages are text. */
const { repository } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { repository?: string };
const SOURCE = repository?.replace(/^github:(.*)/, "https://github.com/$1/blob/main/");

/** Reads the sidebar from docs/README.md: a heading starts a group, and each page is listed once. */
function readMap(): DefaultTheme.SidebarItem[] {
	const groups: { text: string; collapsed: boolean; items: { text: string; link: string }[] }[] = [];
	for (const line of readFileSync(join(ROOT, "docs/README.md"), "utf8").split("\n")) {
		const title = /^## (.+)/.exec(line)?.[1];
		if (title !== undefined) {
			groups.push({ text: title, collapsed: false, items: [] });
		}
		for (const [, text = "", path = ""] of line.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)[^)]*\)/g)) {
			const link = join("/docs", path);
			if (!groups.at(-1)?.items.some((each) => each.link === link)) {
				groups.at(-1)?.items.push({ text: text.charAt(0).toUpperCase() + text.slice(1), link });
			}
		}
	}
	return groups;
}

/** Links to pages stay, and VitePress checks them. A link to another file leads to its source; without one it is not a link. */
function linkFrom(
	page: string,
	link: { attrGet(name: string): string | null; attrs: [string, string][] | null },
): void {
	const [path = "", anchor] = (link.attrGet("href") ?? "").split("#");
	const file = join(dirname(page), decodeURI(path));
	if (path === "" || /^[a-z]+:/.test(path) || path.endsWith(".md")) {
		return;
	}
	const hash = anchor === undefined ? "" : `#${anchor}`;
	link.attrs = SOURCE === undefined ? [["role", "none"]] : [["href", `${SOURCE}${relative(ROOT, file)}${hash}`]];
}

export default defineConfig({
	title: "xs-mcp",
	description: "An MCP server that runs on the microcontroller",
	srcDir: "..",
	srcExclude: ["**/.*/**", "**/dist/**"],
	rewrites: { "README.md": "index.md" },
	outDir: "../.cache/docs/site",
	cacheDir: "../.cache/docs/vitepress",
	// Pages outside this folder find Vue here, too.
	vite: {
		resolve: {
			alias: [{ find: /^vue(?=\/|$)/, replacement: fileURLToPath(new URL("../node_modules/vue", import.meta.url)) }],
		},
	},
	themeConfig: {
		search: { provider: "local" },
		sidebar: [...readMap(), { text: "Changes", link: "/CHANGELOG.md" }],
		outline: [2, 3],
	},
	markdown: {
		// Anchors as GitHub makes them.
		anchor: {
			slugify: (heading) =>
				heading
					.toLowerCase()
					.replace(/[^\p{L}\p{N}\s_-]/gu, "")
					.replace(/\s/g, "-"),
		},
		config(markdown) {
			markdown.core.ruler.push("links-from-repository", ({ tokens, env }) => {
				for (const token of tokens.flatMap((each) => [each, ...(each.children ?? [])])) {
					if (token.type.startsWith("html")) {
						token.content = token.content.replace(/src="(?=\w+\/)/g, 'src="./');
					} else if (token.type === "link_open") {
						linkFrom(env.path, token);
					}
				}
			});
		},
	},
});
