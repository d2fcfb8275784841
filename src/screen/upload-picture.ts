import type { Http } from "../hardware/hardware.js";
import type { ByteSource } from "../hardware/pictures.js";
import { expectOk } from "../protocols/http-status.js";

interface PictureUpload {
	readonly url: string;
	readonly headers?: ReadonlyMap<string, string>;
	/** The form fields before the file. */
	readonly fields?: readonly FormField[];
	readonly filename: string;
	/** A JPEG file. It is sent piece by piece, and closed. */
	readonly picture: ByteSource;
}

/** Uploads a picture as a form. Rejects without an answer, or if its status is not 2xx. @returns the server's answer */
export const uploadPicture = async (http: Http, upload: PictureUpload): Promise<string> => {
	const { url, headers = [], fields = [], filename, picture } = upload;
	try {
		const file = { name: "file", filename, type: "image/jpeg", value: picture };
		const all = new Map([...headers, ["Content-Type", `multipart/form-data; boundary=${BOUNDARY}`]]);
		const body = encodeMultipart([...fields, file]);
		const response = expectOk(await http.request({ method: "POST", url, headers: all, body }), url);
		return String.fromArrayBuffer(response.body);
	} finally {
		picture.close();
	}
};

/** A field of a form; a file has a name and a type. */
interface FormField {
	readonly name: string;
	readonly value: string | ByteSource;
	readonly filename?: string;
	readonly type?: string;
}

/** Long and unusual enough not to occur in a JPEG or a question. */
const BOUNDARY = "----xs-mcp-7d94b1c0e6f25a38";

/** Encodes a form as multipart/form-data (RFC 7578). The files stay where they are: a body is a list of parts. */
const encodeMultipart = (fields: readonly FormField[]): readonly (ArrayBuffer | ByteSource)[] => {
	const body: (ArrayBuffer | ByteSource)[] = [];
	for (const field of fields) {
		body.push(ArrayBuffer.fromString(partHeader(field)));
		body.push(typeof field.value === "string" ? ArrayBuffer.fromString(field.value) : field.value);
		body.push(ArrayBuffer.fromString("\r\n"));
	}
	body.push(ArrayBuffer.fromString(`--${BOUNDARY}--\r\n`));
	return body;
};

const partHeader = ({ name, filename, type }: FormField): string => {
	const file = filename === undefined ? "" : `; filename="${filename}"`;
	const contentType = type === undefined ? "" : `Content-Type: ${type}\r\n`;
	return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${contentType}\r\n`;
};
