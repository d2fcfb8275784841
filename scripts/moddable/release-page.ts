import type { BoardImage } from "./images.js";

/** Content of a release's page. */
export interface ReleaseContent {
	readonly name: string;
	readonly version: string;
	readonly images: readonly BoardImage[];
}

const STYLE = `
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8886; padding: 0.5rem 0; }
pre { overflow-x: auto; background: #8882; padding: 0.75rem; border-radius: 0.25rem; }
`;

/**
 * The page from which people take firmware: a button that flashes it from the browser, or else the files and the command
 * that flashes them. It loads nothing from other hosts.
 *
 * @param script the path of esp-web-tools' install button, if the release has a copy of it
 */
export function releasePage({ name, version, images }: ReleaseContent, script: string | undefined): string {
	const title = escapeHtml(`${name} ${version}`);
	const head = script === undefined ? "" : `\n<script type="module" src="${escapeHtml(script)}"></script>`;
	const sections = images.map((image) => boardSection(image, script !== undefined)).join("\n");
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>${head}
</head>
<body>
<h1>${title}</h1>
<p>Firmware for boards. Checksums of all files: <a href="SHA256SUMS">SHA256SUMS</a>.</p>
${sections}
</body>
</html>
`;
}

function boardSection(image: BoardImage, hasButton: boolean): string {
	const board = escapeHtml(image.board);
	const files = image.parts.map(({ name, offset }) => {
		const path = `${encodeURIComponent(image.board)}/${encodeURIComponent(name)}`;
		return `<li><a href="${path}" download>${escapeHtml(name)}</a> at ${hex(offset)}</li>`;
	});
	return `<section id="${board}">
<h2>${board}</h2>
${hasButton ? button(image.board) : ""}<p>With <code>esptool</code>, in the folder of these files:</p>
<pre>${escapeHtml(esptoolCommand(image))}</pre>
<ul>
${files.join("\n")}
</ul>
</section>`;
}

function button(board: string): string {
	return `<esp-web-install-button manifest="${encodeURIComponent(board)}/manifest.json">
<button slot="activate">Connect and install</button>
<span slot="unsupported">This browser has no Web Serial: use Chrome or Edge on a computer.</span>
<span slot="not-allowed">Web Serial needs this page to be served over https.</span>
</esp-web-install-button>
`;
}

/** The command that flashes an image. */
function esptoolCommand({ chip, flashOptions, parts }: BoardImage): string {
	const files = parts.flatMap(({ name, offset }) => [hex(offset), name]);
	return ["esptool.py", "--chip", chip, "write_flash", ...flashOptions, ...files].join(" ");
}

function hex(offset: number): string {
	return `0x${offset.toString(16)}`;
}

function escapeHtml(text: string): string {
	return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
