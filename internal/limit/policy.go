package limit

import "time"

// Policy is a named rate limit. Metrics contain the Name and Redis keys the Action: a renamed Action starts with empty
// counts. A changed Interval or Burst applies to stored times at once.
type Policy struct {
	Name     string
	Interval time.Duration // time per replenished request; whole milliseconds
	Burst    int           // requests that may come at once
	Local    bool          // each process counts by itself (L3)
	Action   string        // short name in Redis keys
}

// Window returns the time in which an exhausted policy is full again.
func (p *Policy) Window() time.Duration { return time.Duration(p.Burst) * p.Interval }

// policies is the closed list, with the reason for each number.
var policies = []Policy{
	// From one client, five guesses at once and then one per minute; from anywhere, twenty at once, so that a stranger
	// cannot easily lock an owner out. The limit of a hundred consecutive failures is in SQL.
	{Name: "login_account_ip", Interval: time.Minute, Burst: 5, Action: "login_acct_ip"},
	{Name: "login_account", Interval: time.Minute, Burst: 20, Action: "login_account"},
	// PINs are short: five wrong ones at once and then one in three minutes. The limit of ten in a row is in SQL.
	{Name: "pin_account", Interval: 3 * time.Minute, Burst: 5, Action: "pin_account"},
	// A dining room shares one address, so sixty logins at once are allowed.
	{Name: "login_ip", Interval: time.Second, Burst: 60, Action: "login_ip"},
	// A hash keeps a core busy for milliseconds: more logins than these would only queue.
	{Name: "login_instance", Interval: time.Second / 20, Burst: 40, Local: true},
	// Codes have six digits: thirty guesses an hour from one client find one in four years.
	{Name: "otp_verify_ip", Interval: 2 * time.Minute, Burst: 30, Action: "otp_verify_ip"},
	// Guests who register share the restaurant's address; a script must not fill the database.
	{Name: "register_ip", Interval: 2 * time.Minute, Burst: 30, Action: "register_ip"},
	// Each sign-in with Google waits for Google; a dining room shares one address.
	{Name: "google_ip", Interval: 2 * time.Second, Burst: 60, Action: "google_ip"},
	// When a coach arrives, sixty scans may come at once from the restaurant's address. A wrong QR code is a misprint
	// or a guess; twenty guesses do not find one of 2^128 codes.
	{Name: "qr_ip", Interval: time.Second / 2, Burst: 60, Action: "qr_ip"},
	{Name: "qr_fail_ip", Interval: 10 * time.Second, Burst: 20, Action: "qr_fail_ip"},
	// A guest orders, forgets the drinks and orders again; a table orders at most thirty times in ten minutes.
	{Name: "order_guest", Interval: 3 * time.Second, Burst: 3, Action: "order_guest"},
	{Name: "order_visit", Interval: 20 * time.Second, Burst: 30, Action: "order_visit"},
	// A cart with a voucher asks for its price after each change. Codes have at least four characters, and valuable ones
	// more: thirty guesses a minute find none of them.
	{Name: "voucher", Interval: 2 * time.Second, Burst: 15, Action: "voucher"},
	// The guests of a table may change quantities at once; each tap is a change of the table's cart.
	{Name: "cart_visit", Interval: time.Second / 4, Burst: 80, Action: "cart_visit"},
	// A table calls for water, for service and to pay. Calling more often does not help.
	{Name: "call_visit", Interval: 20 * time.Second, Burst: 6, Action: "call_visit"},
	// A phone reports at most every few seconds what was looked at; more often only adds false views.
	{Name: "views_device", Interval: 2 * time.Second, Burst: 15, Local: true},
	// A browser subscribes once, and again when its subscription or its language changes.
	{Name: "push_reader", Interval: 10 * time.Second, Burst: 10, Local: true},
	// Staff correct a setting and test again. Each test waits seconds for another company's server, or sends a
	// message.
	{Name: "settings_test", Interval: 10 * time.Second, Burst: 6, Action: "settings_test"},
	// An owner looks at a mailing in all languages, corrects it and looks again. A mailing itself has a limit of its own.
	{Name: "mailing", Interval: time.Minute, Burst: 10, Action: "mailing"},
	// Unsigned payment notifications are stored for inspection, but not a flood of them.
	{Name: "odd_notice_ip", Interval: 10 * time.Second, Burst: 30, Local: true},
	// A page of the app sends a handful of requests at once; a full dining room shares one address.
	{Name: "api_token", Interval: time.Second / 10, Burst: 40, Local: true},
	{Name: "api_ip", Interval: time.Second / 100, Burst: 400, Local: true},
}

// Policies returns all policies.
func Policies() []Policy { return append([]Policy(nil), policies...) }

// byName finds a policy by its name. Memory uses these pointers in its keys as the identities of policies.
var byName = func() map[string]*Policy {
	m := map[string]*Policy{}
	for i := range policies {
		m[policies[i].Name] = &policies[i]
	}
	return m
}()

// mustPolicy returns a policy by name. It panics on an unknown one, which is a programming error.
func mustPolicy(name string) *Policy {
	p, ok := byName[name]
	if !ok {
		panic("limit: unknown policy " + name)
	}
	return p
}
