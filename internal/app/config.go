package app

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"comanda/internal/account/accountjwt"
	"comanda/internal/event"
	"comanda/internal/fault"
	"comanda/internal/httpapi"
	"comanda/internal/keyspace"
	"comanda/internal/ordering"
	"comanda/internal/payment/linepay"
	"comanda/internal/payment/vnpay"
	"comanda/internal/seq"
	"comanda/internal/telemetry"
)

// Config is the configuration of all commands. The zero value of a field means its default. It is a value: commands
// change their own copy.
type Config struct {
	Listen          string
	PublicURL       string
	DerivedURL      bool // PublicURL was not set and follows from Listen
	DataDir         string
	DatabaseURL     string
	RedisURL        string
	RedisNamespace  string
	RedisListen     string
	AMQPURL         telemetry.Secret
	AMQPPrefix      string
	StockExchange   string
	PaymentWindow   time.Duration
	CounterWindow   time.Duration
	ExpiryGrace     time.Duration
	TicketWarn      time.Duration
	TicketLate      time.Duration
	StreamLook      time.Duration
	DrainDelay      time.Duration
	SandboxPayments bool
	VNPay           vnpay.Config
	LINEPay         linepay.Config
	Simulators      bool
	ServiceToken    telemetry.Secret
	TokenKey        telemetry.Secret
	Limits          bool
	TrustedProxies  string
	SMTPURL         telemetry.Secret
	MailFrom        string
	Log             telemetry.LogConfig
	AccessLog       bool
	DebugListen     string
	Trust           trustConfig
	Google          googleConfig
	DemoLAN         bool
	GuestWorker     bool
	PushLocal       bool

	SettingsKey     telemetry.Secret
	SettingsKeyFile string

	demo           bool // set by WithDemo
	derivedCounter bool // CounterWindow was not set and follows from PaymentWindow
	// given has the names of the settings that the process got from a flag, the environment or its file. They take
	// precedence over the stored settings.
	given map[string]bool
}

// setting is one name in the environment or the configuration file.
type setting struct {
	Name    string
	Default string
	Help    string
	secret  bool
	house   bool // may be stored and changed while servers run, see house.go
	// set parses a value. The text of its error completes a sentence that begins with the name.
	set func(c *Config, value string) error
	get func(c *Config) string

	isSwitch bool // get returns true or false
}

// variables lists all settings by their names in the environment; docs/configuration.md is generated from it.
var variables = []setting{
	text("COMANDA_LISTEN", "127.0.0.1:8080", "Address to listen on for HTTP.", func(c *Config) *string { return &c.Listen }),
	duration("COMANDA_DRAIN_DELAY", "0s", "On shutdown, the time between failing /readyz and closing the listener, up to 1m. Set it longer than a load balancer takes to react.", func(c *Config) *time.Duration { return &c.DrainDelay }),
	ofHouse(text("COMANDA_PUBLIC_URL", "", "URL under which guests reach the server, used in the tables' links. Default: the listen address.", func(c *Config) *string { return &c.PublicURL })),
	text("COMANDA_DATA_DIR", "./data", "Directory of the SQLite file, the key of encrypted settings, e-mails without a mail server, and the embedded store's socket.", func(c *Config) *string { return &c.DataDir }),
	secret(text("COMANDA_DATABASE_URL", "", "postgres://... or sqlite:path. Default: comanda.db in the data directory. A process opens up to 16 connections to PostgreSQL; ?pool_max_conns=n sets another limit.", func(c *Config) *string { return &c.DatabaseURL })),
	secret(text("COMANDA_REDIS_URL", "", "redis://... or rediss://...; several, separated by commas, for a Cluster. Default: a store in the process.", func(c *Config) *string { return &c.RedisURL })),
	text("COMANDA_REDIS_NAMESPACE", "", "Prefix of all keys and channels, for a shared Redis.", func(c *Config) *string { return &c.RedisNamespace }),
	text("COMANDA_REDIS_LISTEN", "", "Loopback address on which the store in the process accepts redis-cli. With it, the store has a copy of all documents.", func(c *Config) *string { return &c.RedisListen }),
	secret(text("COMANDA_AMQP_URL", "", "amqp://... of RabbitMQ. Default: events stay in the process.", func(c *Config) *string { return (*string)(&c.AMQPURL) })),
	text("COMANDA_AMQP_PREFIX", "", "Prefix of all exchanges and queues, for a shared broker.", func(c *Config) *string { return &c.AMQPPrefix }),
	text("COMANDA_AMQP_STOCK_EXCHANGE", event.StockExchange, "Topic exchange for inventory messages, shared with other systems.", func(c *Config) *string { return &c.StockExchange }),
	ofHouse(duration("COMANDA_PAYMENT_WINDOW", "15m", "Time to pay an order, as shown to the guest.", func(c *Config) *time.Duration { return &c.PaymentWindow })),
	ofHouse(duration("COMANDA_COUNTER_WINDOW", "", "Time to pay at the counter, up to 24h. Default: three times the payment window.", func(c *Config) *time.Duration { return &c.CounterWindow })),
	ofHouse(duration("COMANDA_EXPIRY_GRACE", "90s", "Time from the end shown to the guest until an unpaid order expires.", func(c *Config) *time.Duration { return &c.ExpiryGrace })),
	ofHouse(duration("COMANDA_TICKET_WARN", "10m", "Age from which order boards mark a ticket as slow.", func(c *Config) *time.Duration { return &c.TicketWarn })),
	ofHouse(duration("COMANDA_TICKET_LATE", "20m", "Age from which order boards mark a ticket as late.", func(c *Config) *time.Duration { return &c.TicketLate })),
	ofHouse(number("COMANDA_TRUST_EXPIRED", "5", "Points deducted from a member's trust score of 100 for an order that expired unpaid.", func(c *Config) *int { return &c.Trust.Expired })),
	ofHouse(number("COMANDA_TRUST_NO_SHOW", "20", "Points deducted from a member's trust score for an order that was not picked up.", func(c *Config) *int { return &c.Trust.NoShow })),
	ofHouse(number("COMANDA_TRUST_CHARGEBACK", "40", "Points deducted from a member's trust score for a chargeback.", func(c *Config) *int { return &c.Trust.Chargeback })),
	ofHouse(number("COMANDA_TRUST_DAYS", "180", "Days for which these deductions count, 1 to 730.", func(c *Config) *int { return &c.Trust.Days })),
	ofHouse(number("COMANDA_TRUST_PREPAY", "50", "Members whose trust score is lower may have one unpaid order at a time. 0: no such rule.", func(c *Config) *int { return &c.Trust.Prepay })),
	duration("COMANDA_STREAM_LOOK", "0s", "Polling interval of live streams without a notification, 1s to 1m. Default: every 15 to 30 seconds while the process is notified of all changes, otherwise several times a second.", func(c *Config) *time.Duration { return &c.StreamLook }),
	boolean("COMANDA_SANDBOX_PAYMENTS", "off", "Offer the sandbox gateway and its mock callback. Refused unless the listen address and the public URL are loopback, or COMANDA_DEMO_LAN allows them.", func(c *Config) *bool { return &c.SandboxPayments }),
	ofHouse(text("COMANDA_VNPAY_TMN_CODE", "", "Merchant code (TMN code) at VNPay. Without it VNPay is not offered.", func(c *Config) *string { return &c.VNPay.TmnCode })),
	ofHouse(secret(text("COMANDA_VNPAY_HASH_SECRET", "", "Key that signs messages to and from VNPay.", func(c *Config) *string { return (*string)(&c.VNPay.HashSecret) }))),
	ofHouse(text("COMANDA_VNPAY_PAY_URL", "", "URL of VNPay's payment page; set it together with the API's. Default: VNPay's sandbox.", func(c *Config) *string { return &c.VNPay.PayURL })),
	ofHouse(text("COMANDA_VNPAY_API_URL", "", "URL of VNPay's API for queries and refunds; set it together with the page's. Default: VNPay's sandbox.", func(c *Config) *string { return &c.VNPay.APIURL })),
	ofHouse(text("COMANDA_LINEPAY_CHANNEL_ID", "", "Channel id at LINE Pay. Without it LINE Pay is not offered.", func(c *Config) *string { return &c.LINEPay.ChannelID })),
	ofHouse(secret(text("COMANDA_LINEPAY_CHANNEL_SECRET", "", "Key that signs messages to LINE Pay.", func(c *Config) *string { return (*string)(&c.LINEPay.ChannelSecret) }))),
	ofHouse(text("COMANDA_LINEPAY_URL", "", "URL of LINE Pay. Default: its sandbox.", func(c *Config) *string { return &c.LINEPay.Host })),
	ofHouse(text("COMANDA_LINEPAY_PREFIX", "/v4", "Version of LINE Pay's API: /v4 or /v3.", func(c *Config) *string { return &c.LINEPay.Prefix })),
	boolean("COMANDA_SIMULATORS", "off", "Simulate VNPay and LINE Pay if no account is configured: same pages and calls, no money. Refused unless the listen address and the public URL are loopback, or COMANDA_DEMO_LAN allows them.", func(c *Config) *bool { return &c.Simulators }),
	boolean("COMANDA_DEMO_LAN", "off", "Allow the demo, the sandbox and the simulators on addresses of a private network, to try them with a phone. Every page says that it is a demonstration.", func(c *Config) *bool { return &c.DemoLAN }),
	secret(text("COMANDA_SERVICE_TOKEN", "", "Bearer token with which scripts call staff routes. Without it no script can. At least 32 characters unless the listen address and the public URL are loopback.", func(c *Config) *string { return (*string)(&c.ServiceToken) })),
	secret(text("COMANDA_TOKEN_KEY", "", "Key that signs access tokens, at least 32 bytes; must be the same in all processes. Default: a generated key, stored in SQL. If it is set, the stored key is ignored.", func(c *Config) *string { return (*string)(&c.TokenKey) })),
	boolean("COMANDA_LIMITS", "on", "off disables the limits on requests, guests and visits, for load tests. Refused unless the listen address and the public URL are loopback.", func(c *Config) *bool { return &c.Limits }),
	text("COMANDA_TRUSTED_PROXIES", "", "Addresses and networks, separated by commas, whose X-Forwarded-For is trusted. Default: none; the client is the connecting address.", func(c *Config) *string { return &c.TrustedProxies }),
	ofHouse(secret(text("COMANDA_SMTP_URL", "", "smtp://user:password@host:587 or smtps://... Default: each message is written to a file in the directory mail of the data directory.", func(c *Config) *string { return (*string)(&c.SMTPURL) }))),
	ofHouse(text("COMANDA_MAIL_FROM", "no-reply@localhost.localdomain", "Sender of e-mails, such as House <no-reply@house.example>. An address without a name gets the name of the restaurant. A branch may have a sender of its own for e-mails about its orders.", func(c *Config) *string { return &c.MailFrom })),
	text("COMANDA_GOOGLE_CLIENT_ID", "", "Client id of this restaurant at Google. Without it members cannot sign in with Google. Register PUBLIC_URL/shop/google as its redirect URI.", func(c *Config) *string { return &c.Google.ClientID }),
	secret(text("COMANDA_GOOGLE_CLIENT_SECRET", "", "Client secret at Google.", func(c *Config) *string { return (*string)(&c.Google.ClientSecret) })),
	text("COMANDA_GOOGLE_ISSUER", "https://accounts.google.com", "Issuer of the identities, for tests. https://, or a loopback address.", func(c *Config) *string { return &c.Google.Issuer }),
	secret(text("COMANDA_SETTINGS_KEY", "", "Key that encrypts stored secrets, such as those of payment gateways: at least 32 characters, the same in all processes. Default: the key in COMANDA_SETTINGS_KEY_FILE.", func(c *Config) *string { return (*string)(&c.SettingsKey) })),
	text("COMANDA_SETTINGS_KEY_FILE", "", "File with the key that encrypts stored secrets. Default: settings.key in the data directory, created when the first secret is stored.", func(c *Config) *string { return &c.SettingsKeyFile }),
	text("COMANDA_LOG_LEVEL", "info", "Least severe level that is logged: debug, info, warn or error. In a terminal and in the demo, the default is warn.", func(c *Config) *string { return &c.Log.Level }),
	text("COMANDA_LOG_FORMAT", "json", "json or text. In a terminal and in the demo, the default is text.", func(c *Config) *string { return &c.Log.Format }),
	text("COMANDA_DEBUG_LISTEN", "", "Loopback address that serves profiles (net/http/pprof). Default: none.", func(c *Config) *string { return &c.DebugListen }),
	boolean("COMANDA_GUEST_WORKER", "on", "Guests' phones keep the files of the app, so that it opens without a network. off removes the service worker and the files from phones when they next open the app.", func(c *Config) *bool { return &c.GuestWorker }),
	boolean("COMANDA_PUSH_LOCAL", "off", "Deliver notices to push services at private and loopback addresses too, for tests. Refused unless the listen address and the public URL are loopback.", func(c *Config) *bool { return &c.PushLocal }),
	boolean("COMANDA_ACCESS_LOG", "on", "Log one record per request.", func(c *Config) *bool { return &c.AccessLog }),
}

// text declares a setting that takes any text; completed validates it.
func text(name, def, help string, field func(*Config) *string) setting {
	return setting{
		Name: name, Default: def, Help: help,
		set: func(c *Config, v string) error { *field(c) = v; return nil },
		get: func(c *Config) string { return *field(c) },
	}
}

// secret marks a setting whose value must never be printed or logged, see Redacted.
func secret(s setting) setting {
	s.secret = true
	return s
}

// ofHouse marks a setting of the restaurant: its owner may change it in the console.
func ofHouse(s setting) setting {
	s.house = true
	return s
}

// duration declares a setting in the form of time.ParseDuration. The error contains the value, so it must not be used
// for secrets.
func duration(name, def, help string, field func(*Config) *time.Duration) setting {
	return setting{
		Name: name, Default: def, Help: help,
		set: func(c *Config, v string) error {
			d, err := time.ParseDuration(v)
			if err != nil {
				return fmt.Errorf("must be a duration such as 15m or 90s, not %q", v)
			}
			*field(c) = d
			return nil
		},
		get: func(c *Config) string { return field(c).String() },
	}
}

// number declares a setting that takes a whole number; completed validates its range.
func number(name, def, help string, field func(*Config) *int) setting {
	return setting{
		Name: name, Default: def, Help: help,
		set: func(c *Config, v string) error {
			n, err := strconv.Atoi(v)
			if err != nil {
				return fmt.Errorf("must be a whole number, not %q", v)
			}
			*field(c) = n
			return nil
		},
		get: func(c *Config) string { return strconv.Itoa(*field(c)) },
	}
}

// boolean declares a switch. Any other word is an error: a misspelt "off" must not switch something on.
func boolean(name, def, help string, field func(*Config) *bool) setting {
	return setting{
		Name: name, Default: def, Help: help,
		set: func(c *Config, v string) error {
			switch strings.ToLower(v) {
			case "on", "true", "yes", "1":
				*field(c) = true
			case "off", "false", "no", "0":
				*field(c) = false
			default:
				return fmt.Errorf("must be on or off, not %q", v)
			}
			return nil
		},
		get:      func(c *Config) string { return strconv.FormatBool(*field(c)) },
		isSwitch: true,
	}
}

// LoadConfig reads each setting from the flags (by name), else the environment, else the file, else the command's own
// defaults, else the general default. It refuses an unknown name in the file, or with the prefix COMANDA_ in the
// environment, as a misspelling. It ignores variables that Kubernetes sets for its services.
func LoadConfig(flags map[string]string, environ []string, file string, defaults map[string]string) (Config, error) {
	values := maps.Clone(defaults)
	if values == nil {
		values = map[string]string{}
	}
	if file != "" {
		if err := readFile(file, values); err != nil {
			return Config{}, err
		}
	}
	maps.Copy(values, settingsIn(environ))
	maps.Copy(values, flags)
	c := Config{given: map[string]bool{}}
	var errs []error
	for _, s := range variables {
		v, ok := values[s.Name]
		if !ok || v == "" {
			v, ok = s.Default, false
		}
		delete(values, s.Name)
		if v != "" {
			// All errors are collected, so that an operator can correct them at once.
			errs = append(errs, fault.InField(s.houseName(), "no_value", s.set(&c, v)))
		}
		if ok && v != "" && v != defaults[s.Name] {
			c.given[s.Name] = true
		}
	}
	errs = []error{inVariables(errors.Join(errs...))}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		errs = append(errs, unknown(name))
	}
	if err := errors.Join(errs...); err != nil {
		return c, fmt.Errorf("configuration: %w", err)
	}
	// Before completed, which derives the public URL from the listen address.
	if err := c.validateAddresses(); err != nil {
		return c, fmt.Errorf("configuration: %w", err)
	}
	c, err := c.completed()
	if err == nil {
		err = c.validateReach()
	}
	if err != nil {
		return c, fmt.Errorf("configuration: %w", inVariables(err))
	}
	return c, nil
}

// inVariables returns the errors about fields in err as one that names the variables: who starts a process sets these, and
// not the fields of the API. Without fields it returns err.
func inVariables(err error) error {
	named := seq.Map(fault.FieldsOf(err), func(f *fault.InputError) error {
		return fmt.Errorf("COMANDA_%s %s", strings.ToUpper(f.Field), fault.PublicText(f))
	})
	if len(named) == 0 {
		return err
	}
	return errors.Join(named...)
}

// readFile adds the settings of a file to the values. Values may be in double quotes; variables are not expanded. The
// last line of a name counts, as in an environment file of systemd or Docker, so that a file can be appended to
// another.
func readFile(path string, into map[string]string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	for n, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, v, ok := strings.Cut(line, "=")
		if !ok {
			return fmt.Errorf("configuration: %s:%d is not NAME=value", path, n+1)
		}
		into[strings.TrimSpace(name)] = strings.Trim(strings.TrimSpace(v), `"`)
	}
	return nil
}

// completed derives settings from other settings, and validates all.
func (c Config) completed() (Config, error) {
	c.DatabaseURL = cmp.Or(c.DatabaseURL, "sqlite:"+filepath.Join(c.DataDir, "comanda.db"))
	if c.PublicURL == "" {
		c.PublicURL, c.DerivedURL = "http://"+reachable(c.Listen), true
	}
	c.PublicURL = strings.TrimSuffix(c.PublicURL, "/")
	if c.CounterWindow == 0 {
		c.derivedCounter = true
		c.CounterWindow = min(3*c.PaymentWindow, 24*time.Hour)
	}
	return c, c.validate()
}

// reachable replaces a wildcard listen address by one that a client can connect to.
func reachable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// minToken is the minimum length of a service token on a network: 128 bits in hexadecimal.
const minToken = 32

// validate refuses settings that would fail later or be unsafe. It opens no connection, so any command can call it. Errors
// about settings of the restaurant are errors about fields, because the API reports them as well.
func (c Config) validate() error {
	if n := len(c.SettingsKey); n > 0 && n < minToken {
		return fmt.Errorf("COMANDA_SETTINGS_KEY has %d characters, at least %d are needed", n, minToken)
	}
	if err := c.Google.validate(); err != nil {
		return err
	}
	u, err := url.Parse(c.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" ||
		u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.User != nil {
		return fault.InField("public_url", "no_url", errors.New("must be a URL such as https://order.house.example, no path"))
	}
	if n := len(c.TokenKey); n > 0 && n < accountjwt.MinKey {
		return fmt.Errorf("COMANDA_TOKEN_KEY has %d bytes, at least %d are needed", n, accountjwt.MinKey)
	}
	if _, err := httpapi.ParseProxies(c.TrustedProxies); err != nil {
		return fmt.Errorf("COMANDA_TRUSTED_PROXIES: %w", err)
	}
	if c.StreamLook != 0 && (c.StreamLook < time.Second || c.StreamLook > time.Minute) {
		return errors.New("COMANDA_STREAM_LOOK is 0 or from a second to a minute")
	}
	if c.DrainDelay < 0 || c.DrainDelay > time.Minute {
		return errors.New("COMANDA_DRAIN_DELAY is from 0 to a minute")
	}
	if _, err := keyspace.ParseNamespace(c.RedisNamespace); err != nil {
		return fmt.Errorf("COMANDA_REDIS_NAMESPACE: %w", err)
	}
	if err := c.Log.Validate(); err != nil {
		return fmt.Errorf("COMANDA_LOG_LEVEL, COMANDA_LOG_FORMAT: %w", err)
	}
	ages := fault.InField("ticket_late", "ticket_order", ordering.CheckAges(c.TicketWarn, c.TicketLate))
	return errors.Join(c.orders().Validate(), ages, c.Trust.validate(), c.validateMail(), c.validatePayments())
}

// orders returns the configuration of package ordering.
func (c Config) orders() ordering.Config {
	o := ordering.Defaults()
	o.PaymentWindow, o.CounterWindow, o.ExpiryGrace = c.PaymentWindow, c.CounterWindow, c.ExpiryGrace
	if !c.Limits {
		o.Limits = ordering.Limits{}
	}
	return o
}

// http returns the configuration of the HTTP server.
func (c Config) http(version string) httpapi.Config {
	h := httpapi.Default()
	h.Listen, h.Version, h.ServiceToken, h.AccessLog = c.Listen, version, c.ServiceToken, c.AccessLog
	h.StreamLook, h.DrainDelay = c.StreamLook, c.DrainDelay
	h.HSTS = c.encrypted()
	h.TrustedOrigins = []string{c.PublicURL}
	h.TrustedProxies, _ = httpapi.ParseProxies(c.TrustedProxies) // validated before
	return h
}

// encrypted reports whether browsers reach the server over TLS.
func (c Config) encrypted() bool { return strings.HasPrefix(c.PublicURL, "https://") }

// Shown is a setting whose value is safe to print.
type Shown struct {
	Name  string `json:"name"`
	Value string `json:"value"` // true or false for a switch

	isSwitch bool
}

// Text returns the value for people to read. A switch is on or off, the words of its documentation.
func (s Shown) Text() string {
	switch {
	case !s.isSwitch:
		return s.Value
	case s.Value == strconv.FormatBool(true):
		return "on"
	}
	return "off"
}

// Redacted lists the settings in force without secrets.
func (c Config) Redacted() []Shown {
	all := make([]Shown, len(variables))
	for i, s := range variables {
		all[i] = Shown{Name: s.Name, Value: s.get(&c), isSwitch: s.isSwitch}
		if s.secret && all[i].Value != "" {
			all[i].Value = redact(all[i].Value)
		}
	}
	return all
}

// nextAddress matches the comma before another address of a list, as of a Redis Cluster. A password may contain commas.
var nextAddress = regexp.MustCompile(`,\s*[a-z]+://`)

// redact keeps the hosts of addresses without their credentials, and hides any other secret.
func redact(v string) string {
	if strings.HasPrefix(v, "sqlite:") {
		return v
	}
	if at := nextAddress.FindStringIndex(v); at != nil {
		return redact(v[:at[0]]) + "," + redact(strings.TrimSpace(v[at[0]+1:]))
	}
	if u, err := url.Parse(v); err == nil && u.Host != "" {
		// url.Parse may take the credentials of an address that it does not understand for a part of its path.
		if shown := u.Scheme + "://" + u.Host + u.Path; !strings.Contains(shown, "@") {
			return shown
		}
	}
	return "[set]"
}

// SettingsMarkdown returns the documentation of all settings.
func SettingsMarkdown() string {
	var b strings.Builder
	b.WriteString("| Name | Default | Meaning |\n|---|---|---|\n")
	for _, s := range variables {
		def := "-"
		if s.Default != "" {
			def = "`" + s.Default + "`"
		}
		help := s.Help
		if s.house {
			help += " *console*"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, def, help)
	}
	return b.String()
}
