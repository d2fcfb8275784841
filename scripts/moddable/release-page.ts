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

/** The page from which people take firmware: the files, and the command that flashes them. It loads nothing. */
export function releasePage({ name, version, images }: ReleaseContent): string {
	const title = escapeHtml(`${name} ${version}`);
	const sections = images.map(boardSection).join("\n");
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<h1>${title}</h1>
<p>Firmware for boards. Checksums of all files: <a href="SHA256SUMS">SHA256SUMS</a>.</p>
${sections}
</body>
</html>
`;
}

function boardSection(image: BoardImage): string {
	const board = escapeHtml(image.board);
	const files = image.parts.map(({ name, offset }) => {
		const path = `${encodeURIComponent(image.board)}/${encodeURIComponent(name)}`;
		return `<li><a href="${path}" download>${escapeHtml(name)}</a> at ${hex(offset)}</li>`;
	});
	return `<section id="${board}">
<h2>${board}</h2>
<p>With <code>esptool</code>, in the folder of these files:</p>
<pre>${escapeHtml(esptoolCommand(image))}</pre>
<ul>
${files.join("\n")}
</ul>
</section>`;
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
