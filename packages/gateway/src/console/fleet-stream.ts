import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Hono } from "hono";
import { HttpError } from "../http/http-error.js";
import { type Admission, allow, type HttpEnv, mayOperate, readJsonAs, streamLimit } from "../http/route.js";
import type { Fleet } from "./fleet.js";
import { FLEET_VIEW, type FleetView } from "./fleet-query.js";
import type { FleetMessage } from "./messages.js";

/** Milliseconds between comments in a quiet stream: proxies keep it open, and a page notices that it was lost. */
const KEEP_ALIVE = 10_000;

/**
 * Serves the fleet to pages.
 *
 * - `GET /console/stream`: server-sent events, each a FleetMessage: the totals, and the part of the table or device that the page
 *   shows; then each part that has changed. Filtered by the access of the session's token.
 * - `PUT /console/stream/ID` with a FleetView: sets the view of the page.
 */
export function addFleetStreams(app: Hono<HttpEnv>, fleet: Fleet, maxBodyBytes: number): void {
	const pages = new Map<string, { readonly principal: string; readonly look: (view: FleetView) => void }>();
	const count = streamLimit("consoles");
	app.all("/console/stream", allow("GET"), (c) => {
		const id = randomUUID();
		const { outgoing } = c.env;
		const { admission } = c.var;
		count(admission.owner, outgoing);
		const look = streamPage(fleet, outgoing, admission, id);
		pages.set(id, { principal: admission.access.principal, look });
		outgoing.once("close", () => pages.delete(id));
		return RESPONSE_ALREADY_SENT;
	});
	app.all("/console/stream/:id", allow("PUT"), async (c) => {
		const view = await readJsonAs(FLEET_VIEW, "view", c.env.incoming, maxBodyBytes);
		const page = pages.get(c.req.param("id"));
		if (page?.principal !== c.var.admission.access.principal) {
			throw new HttpError(404, "not-found", "unknown stream");
		}
		page.look(view);
		return c.body(null, 204);
	});
}

/** Sends a page what it looks at, and what changes in it. Returns what has it look at something else. */
function streamPage(fleet: Fleet, response: ServerResponse, admission: Admission, id: string) {
	response.writeHead(200, { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" });
	/** The parts that the page has, as JSON. */
	const sent = new Map<string, string>();
	let view: FleetView = {};
	const update = (): void => {
		// A page that does not read skips stale updates.
		if (response.writableNeedDrain || response.destroyed) {
			return;
		}
		const content = contentFor(fleet, view, admission);
		const rows = view.list?.hasStatus ? content.list?.rows : content.device && [content.device.row];
		fleet.show(update, rows?.map((row) => row.id) ?? []);
		const different = Object.entries({ stream: id, ...content }).flatMap(([name, part]) => {
			const text = JSON.stringify(part);
			const isSent = sent.get(name) === text;
			sent.set(name, text);
			return isSent ? [] : [`${JSON.stringify(name)}:${text}`];
		});
		if (different.length > 0) {
			response.write(`data: {${different.join(",")}}\n\n`);
		}
	};
	const unfollow = fleet.follow(update);
	const timer = setInterval(() => response.write(":\n\n"), KEEP_ALIVE);
	response.once("close", () => {
		clearInterval(timer);
		unfollow();
	});
	response.on("drain", update);
	update();
	return (next: FleetView): void => {
		view = next;
		sent.delete("list");
		sent.delete("device");
		update();
	};
}

/** Content of a view, within the page's rights. */
function contentFor(fleet: Fleet, { list, device }: FleetView, admission: Admission): FleetMessage {
	const { access } = admission;
	const { approvals, ...lists } = fleet.lists;
	const found = list && fleet.find(list, access);
	const part = list && found?.slice(list.offset, list.offset + list.count);
	const rows = part?.map(({ row }) => (list?.hasStatus ? fleet.withStatus(row, access) : row));
	return {
		totals: fleet.totals(access),
		...(list && found && rows && { list: { found: found.length, offset: list.offset, rows } }),
		...(device !== undefined && { device: fleet.detail(device, access) ?? null }),
		// Other clients and rejections are for those who may see every device.
		...(access.devices === undefined && !access.isForeignPage && lists),
		...(mayOperate(admission) && { approvals }),
	};
}
