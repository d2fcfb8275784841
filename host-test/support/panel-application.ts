// An application that shows pages of MCP Apps, in a browser: open-panel.ts bundles it.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

interface Shown {
	readonly html: string;
	readonly tool: never;
	readonly result: never;
	readonly context: object;
}

const application = globalThis as never as {
	callServer(params: object): Promise<never>;
	readServer(params: object): Promise<never>;
	showPanel(shown: Shown): void;
	panelSize: object;
};

application.showPanel = ({ html, tool, result, context }) => {
	const frame = document.querySelector("iframe") as HTMLIFrameElement;
	const bridge = new AppBridge(
		null,
		{ name: "host", version: "1.0.0" },
		{ serverTools: {}, serverResources: {} },
		{ hostContext: { ...context, toolInfo: { tool } } },
	);
	bridge.oncalltool = (params) => application.callServer(params);
	bridge.onreadresource = (params) => application.readServer(params);
	bridge.onsizechange = (size) => {
		application.panelSize = size;
	};
	bridge.oninitialized = () => {
		void bridge.sendToolInput({ arguments: {} }).then(() => bridge.sendToolResult(result));
	};
	const view = frame.contentWindow as Window;
	void bridge.connect(new PostMessageTransport(view, view));
	frame.srcdoc = html;
};
