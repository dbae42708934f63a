package limit

import "time"

// Policy is a limit with a name.
type Policy struct {
	Name   string
	Every  time.Duration // one more is granted after this time; whole milliseconds
	Burst  int           // so many may come at once
	Local  bool          // each process counts for itself (L3)
	Action string        // names it in Redis, where names are short
}

// Window is the time in which an empty policy is full again.
func (p *Policy) Window() time.Duration { return time.Duration(p.Burst) * p.Every }

// policies is the closed list, with the reason for each number.
var policies = []Policy{
	// Passwords are guessed five at once and then once a minute, from one place; from anywhere twenty at once, so that a
	// stranger cannot lock somebody out as easily. The cap of a hundred failures in a row is in SQL.
	{Name: "login_account_ip", Every: time.Minute, Burst: 5, Action: "login_acct_ip"},
	{Name: "login_account", Every: time.Minute, Burst: 20, Action: "login_account"},
	// PINs are short: five wrong ones at once and then one in three minutes; the tenth in a row is the last, in SQL.
	{Name: "pin_account", Every: 3 * time.Minute, Burst: 5, Action: "pin_account"},
	// A dining room has one address: sixty may log in at once.
	{Name: "login_ip", Every: time.Second, Burst: 60, Action: "login_ip"},
	// Hashing a password takes a core for a tenth of a second: more than these would only wait.
	{Name: "login_instance", Every: time.Second / 20, Burst: 40, Local: true},
	// Codes have six digits: thirty guesses an hour from one place find one in four years.
	{Name: "otp_verify_ip", Every: 2 * time.Minute, Burst: 30, Action: "otp_verify_ip"},
	// A table's guests who register, behind the address of the house; not a machine that fills the database.
	{Name: "register_ip", Every: 2 * time.Minute, Burst: 30, Action: "register_ip"},
	// A coach arrives: sixty scans at once from the address of the house. A wrong code is a misprint or a guess; 20 of
	// them do not find one of 2^128.
	{Name: "qr_ip", Every: time.Second / 2, Burst: 60, Action: "qr_ip"},
	{Name: "qr_fail_ip", Every: 10 * time.Second, Burst: 20, Action: "qr_fail_ip"},
	// A phone orders, forgets the drinks, and orders again; a table in ten minutes orders thirty times at most.
	{Name: "order_guest", Every: 3 * time.Second, Burst: 3, Action: "order_guest"},
	{Name: "order_visit", Every: 20 * time.Second, Burst: 30, Action: "order_visit"},
	// A table calls for water, for somebody, and to pay; one that goes on calling is answered no sooner.
	{Name: "call_visit", Every: 20 * time.Second, Burst: 6, Action: "call_visit"},
	// What a gateway seems to have said and has not signed is kept to be looked at, but not a flood of it.
	{Name: "odd_notice_ip", Every: 10 * time.Second, Burst: 30, Local: true},
	// A page of the app asks for a handful of things at once; a full dining room shares one address.
	{Name: "api_token", Every: time.Second / 10, Burst: 40, Local: true},
	{Name: "api_ip", Every: time.Second / 100, Burst: 400, Local: true},
}

// Policies lists all policies.
func Policies() []Policy { return append([]Policy(nil), policies...) }

var byName = func() map[string]*Policy {
	m := map[string]*Policy{}
	for i := range policies {
		m[policies[i].Name] = &policies[i]
	}
	return m
}()

// named gives a policy; asking for one that nobody wrote is a defect of the program.
func named(name string) *Policy {
	p, ok := byName[name]
	if !ok {
		panic("limit: there is no policy " + name)
	}
	return p
}
