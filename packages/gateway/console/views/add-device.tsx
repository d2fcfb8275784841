import { session } from "../store/session.js";
import { t } from "../texts.js";
import { Snippet, useLoaded } from "./basics.js";

/** Instructions to add a device: its backend's address as text and as a QR code, and a virtual device. */
export function AddDevice({ isFirst = false }: { readonly isFirst?: boolean }) {
	const urls = session.value?.urls ?? {};
	const backend = urls.websocket ?? urls.mqtt;
	const { bootstrap } = urls;
	// With a bootstrap, a device gets its token there.
	const whereTo = bootstrap === undefined ? `--url ${backend}` : `--ota-url ${bootstrap}`;
	return (
		<section class="card">
			{isFirst && <h1>{t("noDevice")}</h1>}
			<div class="ways">
				<div class="vstack">
					<h2>{t("virtualDevice")}</h2>
					<p class="text-light">{t("virtualDeviceHelp")}</p>
					{backend && <Snippet text={`npm run device -- ${whereTo}`} />}
				</div>
				<div class="vstack">
					<h2>{t("board")}</h2>
					{session.value?.isLoopback ? (
						<>
							<p class="banner warn">{t("onlyThisMachine")}</p>
							<Snippet text="xs-mcp-gateway --websocket-address 0.0.0.0 --bootstrap approve" />
						</>
					) : (
						<p class="text-light">{t("boardHelp")}</p>
					)}
					{backend && !session.value?.isLoopback && (
						<div class="hstack">
							<QrCode text={bootstrap ?? backend} label={t("qr", { url: bootstrap ?? backend })} />
							<div class="grow vstack">
								<p class="text-light">{t("backendUrl")}</p>
								<Snippet text={backend} />
								{bootstrap && (
									<>
										<p class="text-light">{t("bootstrapUrl")}</p>
										<Snippet text={bootstrap} />
									</>
								)}
							</div>
						</div>
					)}
				</div>
			</div>
		</section>
	);
}

/** A text as a QR code, drawn as one path. */
function QrCode({ text, label }: { readonly text: string; readonly label: string }) {
	// Loaded with the first code: pages that show none need not load it.
	const { value: uqr } = useLoaded(() => import("uqr"), []);
	const { data, size } = uqr?.encode(text, { border: 2 }) ?? { data: [], size: 1 };
	const path = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
	return (
		<svg width="132" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
			<rect width={size} height={size} fill="#fff" />
			<path d={path} fill="#000" />
		</svg>
	);
}
