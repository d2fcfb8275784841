import { deepFreeze } from "../../core/text/deep-freeze.js";

/**
 * Every text of the set-up page in English, which the screen and the log show, too. `{name}` is a placeholder. The other
 * languages have the same keys.
 */
const ENGLISH = deepFreeze({
	title: "Set up the device",
	intro: "Choose the Wi-Fi that {name} uses, and the server that it connects to.",
	safeMode: "The device restarted again and again, so it runs in safe mode: nothing but set-up and update works.",
	language: "Language",
	wifi: "Wi-Fi",
	networks: "Networks found",
	searching: "Searching for networks …",
	noNetwork: "No network found.",
	searchAgain: "Search again",
	secured: "{name}, needs a password",
	open: "{name}, open",
	signal: "signal {name} of 4",
	ssid: "Network name",
	password: "Password",
	passwordHint: "Leave it empty for an open network.",
	passwordSaved: "Leave it empty to keep the saved password.",
	showPassword: "Show the password",
	server: "Server",
	find: "Find my gateway",
	gateways: "Gateways found",
	backend: "Server address",
	backendHint:
		"“mdns:” means the gateway on your network. Other addresses begin with ws://, wss://, mqtt:// or mqtts://.",
	token: "Token",
	tokenHint: "Only if the server asks for one.",
	tokenSaved: "Leave it empty to keep the saved token.",
	more: "More settings",
	otaUrl: "Update server (OTA URL)",
	otaUrlHint: "If set, the device gets its server address from there.",
	name: "Device name",
	nameHint: "The name that apps show.",
	send: "Save and connect",
	keep: "Save anyway",
	wait: "Please wait",
	joining: "Joining {name} …",
	connecting: "Connecting to the server …",
	finding: "Looking for gateways on the network …",
	done: "Done",
	joinedRestarts: "The device has joined {name}. It restarts and connects: you can close this page.",
	joinedConnects: "The device has joined {name}. It connects: you can close this page.",
	failed: "That did not work",
	notJoined: "Could not join {name}. Check the password, or move closer to the router.",
	notReached: "The Wi-Fi works, but the server did not answer. Check that it is running, and its address and token.",
	notStored: "The settings could not be stored.",
	found: "Gateways found",
	chooseGateway: "Choose your gateway below, then save.",
	noGateway: "No gateway found on {name}. Is it running, in the same network? You can type its address instead.",
	lost: "No connection to the device",
	lostHelp:
		"Your phone may have left the device’s Wi-Fi. If the device has joined the network, its own Wi-Fi is gone and you are done. Otherwise join its Wi-Fi again and reload this page.",
	noAnswer: "The device did not answer. Is your phone still in its Wi-Fi?",
	reload: "The device has restarted since this page was loaded. Reload it.",
	busy: "The device is trying other settings. Try again in a moment.",
	wrongForm: "The device could not read the form. Reload this page.",
	wrongSetting: "The device cannot start with these settings.",
	chooseNetwork: "Choose a network, or type its name.",
	wrongSsid: "This name is too long for a network.",
	wrongPassword: "A Wi-Fi password has 8 to 63 characters.",
	wrongBackend: "The device cannot use this address. Examples: mdns: or ws://192.168.1.10:8765/",
	wrongToken: "This token is not valid: it is too long, or has more than one line.",
	wrongOtaUrl: "The address begins with http:// or https://.",
	wrongName: "A name has at most 32 characters.",
	erased: "Every setting was erased. The device restarts.",
});

/** The key of a text. */
export type TextKey = keyof typeof ENGLISH;

/** The texts of one language. */
type SetupTexts = Readonly<Record<TextKey, string>>;

/** The set-up page in Japanese. */
const JAPANESE: SetupTexts = deepFreeze({
	title: "デバイスの設定",
	intro: "{name} が使う Wi-Fi と、接続先のサーバーを選んでください。",
	safeMode: "再起動を繰り返したため、セーフモードで動いています。設定と更新だけが使えます。",
	language: "言語",
	wifi: "Wi-Fi",
	networks: "見つかったネットワーク",
	searching: "ネットワークを検索中…",
	noNetwork: "ネットワークが見つかりません。",
	searchAgain: "もう一度検索",
	secured: "{name}、パスワードが必要",
	open: "{name}、パスワード不要",
	signal: "電波の強さ {name}/4",
	ssid: "ネットワーク名",
	password: "パスワード",
	passwordHint: "パスワードのないネットワークでは空のままにします。",
	passwordSaved: "保存済みのパスワードを使う場合は空のままにします。",
	showPassword: "パスワードを表示",
	server: "サーバー",
	find: "ゲートウェイを探す",
	gateways: "見つかったゲートウェイ",
	backend: "サーバーのアドレス",
	backendHint:
		"「mdns:」は同じネットワークにあるゲートウェイを意味します。ほかのアドレスは ws://、wss://、mqtt://、mqtts:// で始まります。",
	token: "トークン",
	tokenHint: "サーバーが求める場合だけ入力します。",
	tokenSaved: "保存済みのトークンを使う場合は空のままにします。",
	more: "その他の設定",
	otaUrl: "更新サーバー（OTA URL）",
	otaUrlHint: "入力すると、デバイスは接続先をそこに問い合わせます。",
	name: "デバイス名",
	nameHint: "アプリに表示される名前です。",
	send: "保存して接続",
	keep: "このまま保存",
	wait: "お待ちください",
	joining: "{name} に接続中…",
	connecting: "サーバーに接続中…",
	finding: "ネットワーク上のゲートウェイを検索中…",
	done: "完了",
	joinedRestarts: "{name} に接続しました。デバイスは再起動してサーバーに接続します。このページは閉じてかまいません。",
	joinedConnects: "{name} に接続しました。デバイスはサーバーに接続します。このページは閉じてかまいません。",
	failed: "うまくいきませんでした",
	notJoined: "{name} に接続できませんでした。パスワードを確認するか、ルーターに近づけてください。",
	notReached:
		"Wi-Fi には接続できましたが、サーバーが応答しません。サーバーが動いているか、アドレスとトークンが正しいか確認してください。",
	notStored: "設定を保存できませんでした。",
	found: "ゲートウェイが見つかりました",
	chooseGateway: "下の一覧からゲートウェイを選び、保存してください。",
	noGateway:
		"{name} にゲートウェイが見つかりません。同じネットワークで動いていますか。アドレスを直接入力することもできます。",
	lost: "デバイスと通信できません",
	lostHelp:
		"スマートフォンがデバイスの Wi-Fi から離れた可能性があります。デバイスがネットワークに接続できた場合、デバイスの Wi-Fi は消え、設定は完了です。そうでない場合は、もう一度デバイスの Wi-Fi に接続して、このページを再読み込みしてください。",
	noAnswer: "デバイスが応答しません。スマートフォンはデバイスの Wi-Fi に接続していますか。",
	reload: "このページを開いた後にデバイスが再起動しました。再読み込みしてください。",
	busy: "デバイスは別の設定を試しています。少し待ってからもう一度お試しください。",
	wrongForm: "入力内容を読み取れませんでした。このページを再読み込みしてください。",
	wrongSetting: "この設定ではデバイスを起動できません。",
	chooseNetwork: "ネットワークを選ぶか、名前を入力してください。",
	wrongSsid: "ネットワーク名が長すぎます。",
	wrongPassword: "Wi-Fi のパスワードは 8〜63 文字です。",
	wrongBackend: "このアドレスは使えません。例：mdns: または ws://192.168.1.10:8765/",
	wrongToken: "トークンとして使えません。長すぎるか、改行が含まれています。",
	wrongOtaUrl: "アドレスは http:// または https:// で始まります。",
	wrongName: "名前は 32 文字までです。",
	erased: "すべての設定を消去しました。デバイスが再起動します。",
});

/** The set-up page in Chinese. */
const CHINESE: SetupTexts = deepFreeze({
	title: "设置设备",
	intro: "请选择 {name} 使用的 Wi-Fi，以及要连接的服务器。",
	safeMode: "设备反复重启，已进入安全模式：只能设置和更新。",
	language: "语言",
	wifi: "Wi-Fi",
	networks: "找到的网络",
	searching: "正在搜索网络…",
	noNetwork: "没有找到网络。",
	searchAgain: "重新搜索",
	secured: "{name}，需要密码",
	open: "{name}，无需密码",
	signal: "信号强度 {name}/4",
	ssid: "网络名称",
	password: "密码",
	passwordHint: "无密码的网络请留空。",
	passwordSaved: "留空则使用已保存的密码。",
	showPassword: "显示密码",
	server: "服务器",
	find: "查找我的网关",
	gateways: "找到的网关",
	backend: "服务器地址",
	backendHint: "“mdns:”表示同一网络中的网关。其他地址以 ws://、wss://、mqtt:// 或 mqtts:// 开头。",
	token: "令牌",
	tokenHint: "仅在服务器要求时填写。",
	tokenSaved: "留空则使用已保存的令牌。",
	more: "更多设置",
	otaUrl: "更新服务器（OTA URL）",
	otaUrlHint: "填写后，设备会向它查询要连接的服务器。",
	name: "设备名称",
	nameHint: "应用中显示的名称。",
	send: "保存并连接",
	keep: "仍然保存",
	wait: "请稍候",
	joining: "正在连接 {name}…",
	connecting: "正在连接服务器…",
	finding: "正在网络中查找网关…",
	done: "完成",
	joinedRestarts: "设备已连接到 {name}，将重新启动并连接服务器。可以关闭此页面。",
	joinedConnects: "设备已连接到 {name}，将连接服务器。可以关闭此页面。",
	failed: "未成功",
	notJoined: "无法连接到 {name}。请检查密码，或靠近路由器。",
	notReached: "Wi-Fi 已连接，但服务器没有响应。请检查服务器是否正在运行，以及地址和令牌是否正确。",
	notStored: "无法保存设置。",
	found: "已找到网关",
	chooseGateway: "请在下方选择网关，然后保存。",
	noGateway: "在 {name} 中没有找到网关。网关是否正在同一网络中运行？也可以直接输入地址。",
	lost: "无法与设备通信",
	lostHelp:
		"手机可能已离开设备的 Wi-Fi。如果设备已连接到网络，它自己的 Wi-Fi 会消失，设置即告完成。否则请重新连接设备的 Wi-Fi 并刷新此页面。",
	noAnswer: "设备没有响应。手机是否仍连接着设备的 Wi-Fi？",
	reload: "打开此页面后设备已重新启动。请刷新页面。",
	busy: "设备正在尝试其他设置，请稍后再试。",
	wrongForm: "设备无法读取表单。请刷新此页面。",
	wrongSetting: "设备无法使用这些设置启动。",
	chooseNetwork: "请选择网络，或输入其名称。",
	wrongSsid: "网络名称太长。",
	wrongPassword: "Wi-Fi 密码为 8 到 63 个字符。",
	wrongBackend: "设备无法使用此地址。例如：mdns: 或 ws://192.168.1.10:8765/",
	wrongToken: "令牌无效：太长，或包含换行。",
	wrongOtaUrl: "地址以 http:// 或 https:// 开头。",
	wrongName: "名称最多 32 个字符。",
	erased: "所有设置已清除，设备正在重新启动。",
});

/** The texts of each language, by the setting `language`. */
export const SETUP_TEXTS: Readonly<Record<string, SetupTexts>> = deepFreeze({
	en: ENGLISH,
	ja: JAPANESE,
	zh: CHINESE,
});

/** A message for the user: on the page in its language, on the screen in that of the setting, in the log in English. */
export interface SetupMessage {
	readonly text: TextKey;
	/** Values for the placeholders `{name}` in the text. */
	readonly name?: string;
	/** The firmware's reason, in English, shown in addition. */
	readonly detail?: string;
}

/** The sentence in a language, without the detail. In English if the language is unknown. */
export const inLanguage = ({ text, name = "" }: SetupMessage, language = "en"): string =>
	(SETUP_TEXTS[language] ?? ENGLISH)[text].replace("{name}", () => name);
