import type { Http } from "../hardware/hardware.js";
import type { ByteSource } from "../hardware/pictures.js";

interface PictureUpload {
	readonly url: string;
	readonly headers?: ReadonlyMap<string, string>;
	/** The field `question` before the file. */
	readonly question?: string;
	readonly filename: string;
	/** A JPEG file. It is sent piece by piece, and closed. */
	readonly picture: ByteSource;
}

/** Long and unusual enough not to occur in a JPEG or a question. */
const BOUNDARY = "----xs-mcp-7d94b1c0e6f25a38";

/** The start of a field. */
const FIELD = `--${BOUNDARY}\r\nContent-Disposition: form-data; name=`;

/**
 * Uploads a picture as a form (multipart/form-data, RFC 7578). Rejects as {@link Http} does.
 *
 * @returns the server's answer
 */
export const uploadPicture = async (http: Http, upload: PictureUpload): Promise<string> => {
	const { url, headers = [], question, filename, picture } = upload;
	const first = question === undefined ? "" : `${FIELD}"question"\r\n\r\n${question}\r\n`;
	const start = `${first}${FIELD}"file"; filename="${filename}"\r\nContent-Type: image/jpeg\r\n\r\n`;
	try {
		const all = new Map([...headers, ["Content-Type", `multipart/form-data; boundary=${BOUNDARY}`]]);
		const body = [ArrayBuffer.fromString(start), picture, ArrayBuffer.fromString(`\r\n--${BOUNDARY}--\r\n`)];
		const response = await http.request({ method: "POST", url, headers: all, body, mustSucceed: true });
		return String.fromArrayBuffer(response.body);
	} finally {
		picture.close();
	}
};
