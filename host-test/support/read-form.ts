import type { IncomingMessage } from "node:http";

export async function readForm(request: IncomingMessage): Promise<FormData> {
	const headers = { "content-type": request.headers["content-type"] ?? "" };
	return await new Response(request as never, { headers }).formData();
}

export async function fileIn(form: FormData): Promise<Buffer> {
	return Buffer.from(await (form.get("file") as File).arrayBuffer());
}
