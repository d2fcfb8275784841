/** A field of a form; a file has a name and a type. */
export interface FormField {
	readonly name: string;
	readonly value: string | ArrayBuffer;
	readonly filename?: string;
	readonly type?: string;
}

/** Long and odd enough not to stand in a JPEG or a question. */
const BOUNDARY = "----xs-mcp-7d94b1c0e6f25a38";

/** Encodes a form as multipart/form-data (RFC 7578). */
export function encodeMultipart(fields: readonly FormField[]): { contentType: string; body: ArrayBuffer } {
	const parts: ArrayBuffer[] = [];
	for (const field of fields) {
		parts.push(ArrayBuffer.fromString(partHeader(field)));
		parts.push(typeof field.value === "string" ? ArrayBuffer.fromString(field.value) : field.value);
		parts.push(ArrayBuffer.fromString("\r\n"));
	}
	parts.push(ArrayBuffer.fromString(`--${BOUNDARY}--\r\n`));
	return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, body: concatenate(parts) };
}

function partHeader({ name, filename, type }: FormField): string {
	const file = filename === undefined ? "" : `; filename="${filename}"`;
	const contentType = type === undefined ? "" : `Content-Type: ${type}\r\n`;
	return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${contentType}\r\n`;
}

function concatenate(parts: readonly ArrayBuffer[]): ArrayBuffer {
	const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.byteLength, 0));
	let at = 0;
	for (const part of parts) {
		whole.set(new Uint8Array(part), at);
		at += part.byteLength;
	}
	return whole.buffer;
}
