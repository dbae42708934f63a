package linepay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"comanda/internal/fault"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/telemetry"
)

// Merchant implements payment.Gateway for LINE Pay. It is stateless and safe for concurrent use.
type Merchant struct {
	conf   Config
	client *gatewayhttp.Client
	nonce  func() string
}

var _ payment.Gateway = (*Merchant)(nil)

// New returns a merchant. It uses the client's transport and timeout, but no cookies, and follows no redirects. nonce
// returns a different text at each call, such as Nonce.
func New(c Config, client *http.Client, nonce func() string) (*Merchant, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Merchant{c.complete(), gatewayhttp.NewClient(client), nonce}, nil
}

// checkStates maps the codes of "Check Payment Request Status" to states. PAID is not among them, because a check does not
// state the amount. An expired payment (20 minutes without approval) has the code of a canceled one.
var checkStates = map[string]payment.State{
	codeOK: payment.Redirected, codeApproved: payment.Approved, codeCanceled: payment.Failed, codeFailed: payment.Failed,
}

// Check implements payment.Gateway. An attempt without a transaction is looked up by its own id.
func (m *Merchant) Check(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	if a.GatewayRef == "" {
		return m.lookUp(ctx, a)
	}
	c := request{name: "check", timeout: lookupTimeout}
	if err := c.setPath(a, "/payments/requests/%s/check"); err != nil {
		return payment.Report{}, err
	}
	got, err := m.call(ctx, c)
	if err != nil {
		return payment.Report{}, payment.ErrGateway.Because(err)
	}
	// Any other code changes nothing: the attempt is checked again later.
	if state, ok := checkStates[got.Code]; ok {
		return payment.Report{State: state, Ref: a.GatewayRef, Code: got.Code, Raw: got.raw}, nil
	}
	switch got.Code {
	case codeUnknown:
		return m.lookUp(ctx, a)
	case codePaid:
		d, err := m.details(ctx, a)
		if err != nil {
			return payment.Report{}, payment.ErrGateway.Because(err)
		}
		return d.report(a, codePaid), nil
	}
	return payment.Report{}, payment.ErrGateway.Because(got.codeError(c))
}

// lookUp checks an attempt for which LINE Pay has no request: its start got no response, or LINE Pay no longer keeps it.
// A captured payment is in the list of payments. An attempt that is missing there too is undecided, which lets it end
// (decision 89). After a capture request this proves nothing: the attempt stays as it is, for the staff.
func (m *Merchant) lookUp(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	d, err := m.details(ctx, a)
	captureSent := a.State == payment.Confirming || a.State == payment.Unknown
	if refused, ok := errors.AsType[*codeError](err); ok && refused.code == codeUnknown && !captureSent {
		return payment.Report{State: payment.Redirected, Ref: a.GatewayRef, Code: codeUnknown, Raw: d.raw}, nil
	}
	if err != nil {
		return payment.Report{}, payment.ErrGateway.Because(err)
	}
	return d.report(a, codePaid), nil
}

// setPath formats a path with the attempt's transaction id. It checks the id against a pattern, so that no other text
// gets into the path. Attempts without a transaction fail here, before anything is sent.
func (c *request) setPath(a payment.Attempt, format string) error {
	if !transactionID.MatchString(a.GatewayRef) {
		return payment.ErrGateway.Because(fmt.Errorf("linepay: %s: the attempt has no transaction", c.name))
	}
	c.path = fmt.Sprintf(format, a.GatewayRef)
	return nil
}

// confirmBody is the body of "Confirm Payment". LINE Pay refuses another amount than the requested one (1153).
type confirmBody struct {
	Amount   json.Number `json:"amount"`
	Currency string      `json:"currency"`
}

// Confirm implements payment.Gateway. An uncertain outcome is UNKNOWN (L2), even if ctx ends: callers should pass a
// context that outlives the guest's request.
func (m *Merchant) Confirm(ctx context.Context, a payment.Attempt) (payment.Report, error) {
	if !supportsAmount(a) {
		return payment.Report{}, payment.ErrUnsuitable
	}
	c := request{
		name: "confirm", body: confirmBody{formatMinor(a.Currency, a.Amount), string(a.Currency)}, timeout: confirmTimeout,
	}
	if err := c.setPath(a, "/payments/%s/confirm"); err != nil {
		return payment.Report{}, err
	}
	got, err := m.call(ctx, c)
	r := payment.Report{State: payment.Unknown, Ref: a.GatewayRef, Code: got.Code, Raw: got.raw}
	if err != nil {
		r.Code = ""   // the code of an invalid response has no meaning
		return r, nil //nolint:nilerr // a lost response is the report UNKNOWN
	}
	// For codes without a case, such as "in process" or "confirmed already", the outcome stays UNKNOWN until a check
	// finds it.
	switch groupOf(got.Code) {
	case success:
		return verifyConfirm(got, a), nil
	case guest:
		r.State = payment.Failed
		if got.Code == codeNotApproved {
			r.State = payment.Redirected
		}
	// Nothing was captured. The error lets the caller return the attempt to REDIRECTED.
	case merchant:
		return payment.Report{}, payment.ErrGateway.Because(got.codeError(c))
	}
	return r, nil
}

// verifyConfirm compares a response with the request (L3).
func verifyConfirm(got response, a payment.Attempt) payment.Report {
	var p paymentInfo
	err := got.decodeInfo(&p)
	p.Currency = string(a.Currency) // the response has no currency; the request had
	return p.report(a, err, got.Code, got.raw)
}

// LINE Pay's two hosts. The sandbox moves no money.
const (
	SandboxHost    = "https://sandbox-api-pay.line.me"
	productionHost = "https://api-pay.line.me"
)

// Config is a merchant's contract with LINE Pay.
type Config struct {
	ChannelID     string
	ChannelSecret telemetry.Secret
	Host          string // base URL of the API; empty for the sandbox. Its path, if any, is not part of the signature
	Prefix        string // API version: /v4, even if empty, or /v3
}

// printable matches one word of visible ASCII. A space or line feed copied by mistake would break a header, or make
// every signature wrong.
var printable = regexp.MustCompile(`^[!-~]{1,100}$`)

// Validate checks the configuration without calling LINE Pay. Its errors never contain the secret.
func (c Config) Validate() error {
	c = c.complete()
	switch {
	case !printable.MatchString(c.ChannelID):
		return fault.InField("linepay_channel_id", "one_word", errors.New("must have 1 to 100 characters and no space"))
	case !printable.MatchString(string(c.ChannelSecret)):
		return fault.InField("linepay_channel_secret", "one_word",
			errors.New("must have 1 to 100 characters and no space"))
	// With a slash at the end of the host, request paths would begin with two slashes, but the signed path with one.
	case strings.HasSuffix(c.Host, "/"):
		return fault.InField("linepay_url", "end_slash", errors.New("must not end with a slash"))
	case c.Prefix != "/v4" && c.Prefix != "/v3":
		return fault.InField("linepay_prefix", "api_version", errors.New("must be /v4 or /v3"))
	}
	if err := gatewayhttp.CheckURL(c.Host); err != nil {
		return fault.InField("linepay_url", gatewayhttp.FieldCode(err),
			fmt.Errorf("must be a URL such as %s: %w", SandboxHost, err))
	}
	return nil
}

// complete sets the defaults. The default host is that of the sandbox, so that a missing host moves no money.
func (c Config) complete() Config {
	c.Host, c.Prefix = cmp.Or(c.Host, SandboxHost), cmp.Or(c.Prefix, "/v4")
	return c
}

// The codes of the manual's appendix about the merchant.
const (
	codeNoMerchant = "1104" // no such merchant
	codeInactive   = "1105" // the merchant cannot use LINE Pay
	codeHeader     = "1106" // a header is wrong: the channel id, the signature, or the client's address
)

// addressRefused is a part of the message of code 1106 for an address that is not in the merchant centre's list:
// "Header information error. Ip address [...] is not allowed to access this API". The code is the same for a wrong
// secret.
const addressRefused = "ip address"

// TestCredentials requests the details of a payment that cannot exist, with an id that no attempt has. LINE Pay
// verifies the signature before it searches, so code 1150 proves the channel id and the secret. An error means that
// LINE Pay was not reached or that the response is not LINE Pay's.
func (m *Merchant) TestCredentials(ctx context.Context) (payment.CredentialReport, error) {
	_, err := m.details(ctx, payment.Attempt{ID: "test-" + m.nonce()})
	refused, ok := errors.AsType[*codeError](err)
	if !ok {
		return payment.CredentialReport{State: payment.CredentialsUnclear, Code: codeOK}, err
	}
	r := payment.CredentialReport{
		State: payment.CredentialsUnclear, Code: refused.code,
		Message: gatewayhttp.Storable(refused.message, payment.MaxCredentialMessage),
	}
	switch refused.code {
	case codeUnknown:
		r.State = payment.CredentialsAccepted
	case codeNoMerchant:
		r.State = payment.CredentialsRefused
	case codeInactive:
		r.State = payment.MerchantInactive
	case codeHeader:
		r.State = payment.CredentialsRefused
		if strings.Contains(strings.ToLower(refused.message), addressRefused) {
			r.State = payment.AddressRefused
		}
	}
	return r, nil
}
