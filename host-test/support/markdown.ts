export function linksOf(markdown: string): string[] {
	const text = markdown
		.replace(/<img src="([^"]*)"[^>]*>/g, "[]($1)")
		.replace(/^( *)```[\s\S]*?^\1```|`[^`\n]*`/gm, "");
	return [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target as string);
}
