import type { Context } from "hono";

/** The texts of the page on which a person approves a client. `{client}` stands for its name, `{host}` for its redirect host. */
const en = {
	language: "en",
	title: "Allow a client?",
	asks: "{client} asks for access to the devices of this gateway.",
	goesTo: "You will be sent back to",
	ownMachine: "a program on this computer",
	app: "an app with the scheme",
	document: "It is described at",
	unverified:
		"Nobody has checked this name: the client chose it. Go on only if you have just started to sign in there.",
	whoAreYou: "Who are you?",
	secret: "Operator's token, or a code",
	secretHelp:
		"For a code, run xs-mcp-gateway token code where the gateway runs. Leave this empty if you are signed in to the console as an operator.",
	wrongSecret: "This is neither a token nor a valid code.",
	notOperator: "This is not an operator's token (token add --operator).",
	next: "Continue",
	tools: "What may it do?",
	read: "Only read: see devices, and call tools that are known to be read-only",
	control: "Call every tool but user-only ones",
	userTools: "Also user-only tools",
	userToolsHelp: "Restart, firmware upgrade and the like",
	microphone: "Also microphones",
	microphoneHelp: "Listen through devices, if the gateway allows that at all",
	devices: "Which devices?",
	allDevices: "All devices, also those to come",
	someDevices: "Only these:",
	chooseDevices: "Choose all devices, or at least one.",
	allow: "Allow",
	deny: "Deny",
	revokeLater: "You can end this at any time in the console, or with xs-mcp-gateway token remove.",
	failed: "This sign-in cannot go on",
	tooOld: "The page is too old, or was opened in another browser. Start again in the client.",
};

export type ConsentTexts = Readonly<Record<keyof typeof en, string>>;

const ja: ConsentTexts = {
	language: "ja",
	title: "クライアントを許可しますか？",
	asks: "{client} がこのゲートウェイのデバイスへのアクセスを求めています。",
	goesTo: "許可後の戻り先：",
	ownMachine: "このコンピューター上のプログラム",
	app: "次のスキームのアプリ：",
	document: "クライアントの情報：",
	unverified:
		"この名前はクライアントが自分で付けたもので、確認されていません。今そこでサインインを始めた場合だけ続けてください。",
	whoAreYou: "本人確認",
	secret: "管理者のトークン、またはコード",
	secretHelp:
		"コードは、ゲートウェイのあるコンピューターで xs-mcp-gateway token code を実行すると表示されます。コンソールに管理者としてサインインしている場合は、空のままで構いません。",
	wrongSecret: "トークンでも有効なコードでもありません。",
	notOperator: "このトークンは管理者のものではありません（token add --operator）。",
	next: "次へ",
	tools: "許可する操作",
	read: "読み取りのみ：デバイスを見る、読み取り専用とわかっているツールを呼ぶ",
	control: "ユーザー専用を除くすべてのツールを呼ぶ",
	userTools: "ユーザー専用のツールも許可",
	userToolsHelp: "再起動、ファームウェアの更新など",
	microphone: "マイクも許可",
	microphoneHelp: "ゲートウェイが許可している場合に、デバイスで音声を聞く",
	devices: "対象のデバイス",
	allDevices: "すべてのデバイス（今後追加されるものも含む）",
	someDevices: "次のデバイスだけ：",
	chooseDevices: "すべてのデバイスか、一つ以上のデバイスを選んでください。",
	allow: "許可",
	deny: "拒否",
	revokeLater: "コンソール、または xs-mcp-gateway token remove で、いつでも取り消せます。",
	failed: "サインインを続けられません",
	tooOld: "ページが古いか、別のブラウザーで開かれました。クライアントからやり直してください。",
};

const zh: ConsentTexts = {
	language: "zh",
	title: "允许此客户端吗？",
	asks: "{client} 请求访问此网关的设备。",
	goesTo: "完成后将返回到",
	ownMachine: "此计算机上的程序",
	app: "使用此协议的应用：",
	document: "客户端信息：",
	unverified: "此名称由客户端自行填写，未经核实。只有刚刚在那里开始登录时才继续。",
	whoAreYou: "确认身份",
	secret: "管理员令牌或代码",
	secretHelp:
		"要获取代码，请在网关所在的计算机上运行 xs-mcp-gateway token code。如果已以管理员身份登录控制台，请留空。",
	wrongSecret: "这既不是令牌，也不是有效的代码。",
	notOperator: "此令牌不是管理员令牌（token add --operator）。",
	next: "继续",
	tools: "允许的操作",
	read: "只读：查看设备，调用已知只读的工具",
	control: "调用除用户专用之外的所有工具",
	userTools: "也允许用户专用工具",
	userToolsHelp: "重启、固件升级等",
	microphone: "也允许使用麦克风",
	microphoneHelp: "在网关允许的情况下通过设备收听",
	devices: "哪些设备？",
	allDevices: "所有设备，包括以后添加的",
	someDevices: "仅这些：",
	chooseDevices: "请选择所有设备，或至少选择一个设备。",
	allow: "允许",
	deny: "拒绝",
	revokeLater: "可以随时在控制台中撤销，或运行 xs-mcp-gateway token remove。",
	failed: "无法继续登录",
	tooOld: "页面已过期，或是在另一个浏览器中打开的。请从客户端重新开始。",
};

/** Returns the texts in the first language of a browser's list that the page has. */
export function textsFor({ req }: Context): ConsentTexts {
	const wanted = (req.header("Accept-Language") ?? "").split(",").map((each) => each.trim().slice(0, 2).toLowerCase());
	return wanted.flatMap((tag) => [en, ja, zh].find(({ language }) => language === tag) ?? [])[0] ?? en;
}
