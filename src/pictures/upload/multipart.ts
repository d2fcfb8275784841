import type { ByteSource } from "../../hardware/pictures.js";

/** A field of a form; a file has a name and a type. */
export interface FormField {
	readonly name: string;
	readonly value: string | ByteSource;
	readonly filename?: string;
	readonly type?: string;
}

/** Long and unusual enough not to occur in a JPEG or a question. */
const BOUNDARY = "----xs-mcp-7d94b1c0e6f25a38";

/** A form, ready to be sent. */
interface Multipart {
	readonly contentType: string;
	readonly body: readonly (ArrayBuffer | ByteSource)[];
}

/** Encodes a form as multipart/form-data (RFC 7578). The files stay where they are: a body is a list of parts. */
export const encodeMultipart = (fields: readonly FormField[]): Multipart => {
	const body: (ArrayBuffer | ByteSource)[] = [];
	for (const field of fields) {
		body.push(ArrayBuffer.fromString(partHeader(field)));
		body.push(typeof field.value === "string" ? ArrayBuffer.fromString(field.value) : field.value);
		body.push(ArrayBuffer.fromString("\r\n"));
	}
	body.push(ArrayBuffer.fromString(`--${BOUNDARY}--\r\n`));
	return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, body };
};

const partHeader = ({ name, filename, type }: FormField): string => {
	const file = filename === undefined ? "" : `; filename="${filename}"`;
	const contentType = type === undefined ? "" : `Content-Type: ${type}\r\n`;
	return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${contentType}\r\n`;
};
