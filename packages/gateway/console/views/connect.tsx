import { session } from "../store/session.js";
import { t } from "../texts.js";
import { Snippet } from "./basics.js";
import { connectionsTo } from "./connections.js";

/** Instructions to make applications clients of this gateway. */
export function ConnectView() {
	const info = session.value ?? { needsToken: false, hasExtension: false };
	const url = new URL("mcp", document.baseURI).href;
	return (
		<>
			<h1>{t("connect")}</h1>
			<p class="text-light">{t(info.needsToken ? "connectWithToken" : "connectHelp")}</p>
			<Snippet text={url} />
			<div class="ways">
				{connectionsTo(url, info).map(({ name, file, text, link, download }) => (
					<section key={name} class="card" aria-label={name}>
						<div class="hstack">
							<h2>{name}</h2>
							{link && (
								<a class="button outline" href={link}>
									{t("install", { application: name })}
								</a>
							)}
							{download && (
								<a class="button outline" href={download} download>
									{t("downloadExtension")}
								</a>
							)}
						</div>
						{download && <p class="text-light">{t("extensionHelp")}</p>}
						<p class="text-light">{file === undefined ? t("inTerminal") : t("inFile", { file })}</p>
						<Snippet text={text} />
					</section>
				))}
			</div>
		</>
	);
}
