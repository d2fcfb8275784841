import { Hono } from "hono";
import {
	BOOTSTRAP_PATHS,
	BootstrapRoutes,
	type BootstrapRoutesOptions,
} from "../devices/bootstrap/bootstrap-routes.js";
import { PictureRoutes, type PictureRoutesOptions } from "../devices/pictures/picture-routes.js";
import { PICTURE_PATHS } from "../devices/pictures/pictures.js";
import { HttpError } from "../http/http-error.js";
import { deviceBody, type RejectionReport } from "../http/rejections.js";
import { allowOrigin, setHeaders } from "../http/response-headers.js";
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
	const routes = new PictureRoutes(options);
	const bootstrap = new BootstrapRoutes(options.bootstrap);
	const app = new Hono<HttpEnv>();
	app.onError((error, c) => rejections.answer(error, c, deviceBody));
	app.all(PICTURE_PATHS.explain, allow("POST"), routes.explain);
	app.all(`${PICTURE_PATHS.upload}/:ticket`, allow("POST"), routes.upload);
	app.all(`${SPEECH_PATH}/:id`, allow("GET"), serveSpeech(options.speech));
	app.use(`${BOOTSTRAP_PATHS.ota}/*`, bootstrap.checkSource, allowOrigin);
	for (const path of [BOOTSTRAP_PATHS.ota, `${BOOTSTRAP_PATHS.ota}/`]) {
		app.all(path, allow("GET", "POST"), bootstrap.ota);
	}
	app.all(BOOTSTRAP_PATHS.activate, allow("POST"), bootstrap.activate);
	app.all(`${BOOTSTRAP_PATHS.download}/:file`, allow("GET"), bootstrap.download);
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
