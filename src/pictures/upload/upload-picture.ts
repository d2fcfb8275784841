import type { Http } from "../../hardware/hardware.js";
import type { ByteSource } from "../../hardware/pictures.js";
import { expectOk } from "../../net/http-status.js";
import { encodeMultipart, type FormField } from "./multipart.js";

interface PictureUpload {
	readonly url: string;
	readonly headers?: ReadonlyMap<string, string>;
	/** The form fields before the file. */
	readonly fields?: readonly FormField[];
	readonly filename: string;
	/** A JPEG file. It is sent piece by piece, and closed. */
	readonly picture: ByteSource;
}

/**
 * Uploads a picture as a form. Rejects without an answer, or if its status is not 2xx.
 *
 * @returns the server's answer
 */
export const uploadPicture = async (http: Http, upload: PictureUpload): Promise<string> => {
	const { url, headers = [], fields = [], filename, picture } = upload;
	try {
		const file = { name: "file", filename, type: "image/jpeg", value: picture };
		const { contentType, body } = encodeMultipart([...fields, file]);
		const all = new Map([...headers, ["Content-Type", contentType]]);
		const response = expectOk(await http.request({ method: "POST", url, headers: all, body }), url);
		return String.fromArrayBuffer(response.body);
	} finally {
		picture.close();
	}
};
