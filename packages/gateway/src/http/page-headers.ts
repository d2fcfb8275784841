const TYPES: Readonly<Record<string, string>> = {
	html: "text/html; charset=utf-8",
	js: "text/javascript; charset=utf-8",
	css: "text/css; charset=utf-8",
};

/** The type of a page's file, by its ending. */
export function contentTypeOf(path: string): string {
	return TYPES[path.slice(path.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/**
 * A policy for a page that runs its own script and nothing else: text from devices can neither become markup nor load
 * anything.
 *
 * @param images sources of images
 * @param media sources of sounds
 */
export function pagePolicy(images: string, media: string): string {
	return [
		"default-src 'none'",
		"script-src 'self'",
		"style-src 'self'",
		`img-src ${images}`,
		`media-src ${media}`,
		"connect-src 'self'",
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	].join("; ");
}
