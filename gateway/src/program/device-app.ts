import { Hono } from "hono";
import { addBootstrapRoutes, type BootstrapRoutesOptions } from "../devices/bootstrap/bootstrap-routes.js";
import { addPictureRoutes, type PictureRoutesOptions } from "../devices/pictures/picture-routes.js";
import { HttpError } from "../http/http-error.js";
import { deviceBody, type RejectionReport } from "../http/rejections.js";
import { setHeaders } from "../http/response-headers.js";
import { allow, type HttpEnv, type Route } from "../http/route.js";
import { SPEECH_PATH, type Speech } from "../speech/speech.js";

export interface DeviceAppOptions extends PictureRoutesOptions {
	readonly bootstrap: BootstrapRoutesOptions;
	readonly rejections: RejectionReport;
	/** Sounds for devices; undefined without speech. */
	readonly speech: Speech | undefined;
}

/**
 * HTTP routes for devices. They may use any name for the gateway, so Host is not checked: each
 * request needs a secret that a website cannot have. The bootstrap, which needs none, checks it.
 */
export function createDeviceApp(options: DeviceAppOptions): Hono<HttpEnv> {
	const { rejections } = options;
	const app = new Hono<HttpEnv>();
	app.onError((error, c) => rejections.answer(error, c, deviceBody));
	addPictureRoutes(app, options);
	app.all(`${SPEECH_PATH}/:id`, allow("GET"), serveSpeech(options.speech));
	addBootstrapRoutes(app, options.bootstrap);
	return app;
}

/** The same on the port at which devices open their WebSockets, so that they reach it at the address that they know. */
export function createDeviceServerApp(options: DeviceAppOptions): Hono<HttpEnv> {
	const app = new Hono<HttpEnv>();
	app.use(setHeaders);
	app.route("/", createDeviceApp(options));
	app.onError((error, c) => options.rejections.answer(error, c, deviceBody));
	app.notFound(() => {
		throw new HttpError(426, "not-found", "upgrade required: this port speaks WebSocket only", {
			Upgrade: "websocket",
		});
	});
	return app;
}

/** A file's id is the permission to get it, as long as it is served. */
function serveSpeech(speech: Speech | undefined): Route {
	return (c) => {
		const file = speech?.find(c.req.param("id") ?? "");
		if (file === undefined) {
			throw new HttpError(404, "not-found", "not found");
		}
		return c.body(new Uint8Array(file), 200, { "Content-Type": "audio/wav" });
	};
}
