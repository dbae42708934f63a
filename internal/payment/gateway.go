package payment

import (
	"context"
	"time"

	"comanda/internal/fault"
	"comanda/internal/money"
)

// Gateway is an external payment service. Money moves there; each of its responses becomes a Report about an attempt.
// Methods may call the network and are never called within a transaction. They are called concurrently, even for the
// same attempt by several processes. Each call has a time limit of its own, so a ctx without a deadline does not wait
// forever.
type Gateway interface {
	// Start returns the page on which the guest pays. The attempt's id is the merchant's reference at the gateway. A
	// repeated call for the same attempt returns a page of the same payment, or ErrGateway. Two requests may start the
	// same attempt at once; the ledger keeps the page that is stored first.
	//
	// ErrRefused and ErrUnsuitable end the attempt, unless another call has stored a page. They mean that the gateway
	// takes no money for the attempt, also through a page that an earlier call has created and no guest has received. After
	// any other error the gateway may take money, and the attempt still counts as open.
	Start(ctx context.Context, p Purchase) (Page, error)
	// Check returns the state of an attempt. It changes nothing at the gateway. After ErrGateway the attempt stays as it
	// is and is checked at its next time.
	Check(ctx context.Context, a Attempt) (Report, error)
	// Confirm captures a payment that the guest has approved. If the outcome is not certain the report is UNKNOWN, never
	// FAILED. Gateways that capture by themselves do the same as Check. An error means that the call has moved no money
	// and that the guest may try again. ctx must outlive the guest's request: an interrupted capture has an unknown
	// outcome.
	Confirm(ctx context.Context, a Attempt) (Report, error)
	// Prepare is called before a refund is sent for the first time. It returns the gateway's ids of all existing
	// refunds of the attempt, or an outcome for a refund that must not be sent. A gateway with idempotent refund
	// requests returns no ids.
	Prepare(ctx context.Context, r RefundRequest) (before []string, out RefundOutcome, err error)
	// Refund sends a refund and returns its outcome. After an error it is called again, a minute later at the earliest,
	// and must not pay twice: a refund that cannot be told apart from another one is UNKNOWN or REFUSED and is not
	// sent. Refunds of one attempt are sent one after the other.
	Refund(ctx context.Context, r RefundRequest) (RefundOutcome, error)
}

// Purchase is the input of Start. It contains everything that the page shows, so that a gateway's adapter needs no
// store.
type Purchase struct {
	Attempt       Attempt
	OrderNumber   string // the order's short number
	BranchName    string
	ExpiresAt     time.Time // the gateway must not capture after it, if it supports that
	ClientIP      string    // the IP address of the guest's device
	Language      string    // vi, en, zh-TW
	ReturnBaseURL string    // base URL of this installation, without a trailing slash
}

// Page is the gateway's payment page.
type Page struct {
	URL string
	Ref string // the gateway's reference; empty until known
}

// Report is a gateway's statement about an attempt. The adapter has verified its origin; the ledger decides about the
// order. An amount that differs from the attempt's is recorded as an AmountMismatch, so adapters pass it on unchanged.
type Report struct {
	State    State  // REDIRECTED while undecided, or APPROVED, PAID, FAILED, REVIEW, UNKNOWN
	Ref      string // the gateway's reference; empty if not stated
	Amount   int64  // in minor units; 0 if not stated
	Currency money.Currency
	Code     string // the gateway's code
	Raw      string // as received, without secrets
	Headers  string // headers of the HTTP request; empty if there was none
}

// RefundRequest is a refund to send to a gateway. It contains everything that identifies the refund at the gateway, so
// that a retry by another process requests the same refund.
type RefundRequest struct {
	ID           string // the refund's id; the same in every retry
	Attempt      Attempt
	Amount       int64
	Full         bool   // all of the attempt's amount in one refund
	By           string // authz.Actor.String() of the approver
	Reason       string
	DecidedAt    time.Time // when it was approved
	Sent         bool      // an earlier request may have reached the gateway
	PriorRefunds []string  // the ids that Prepare returned
	Code         string    // code of an earlier outcome that staff have checked since; empty for a new refund
	OtherRefunds []Refund  // other refunds of the same attempt
}

// RefundOutcome is the result of a refund request.
type RefundOutcome struct {
	State RefundState // DONE; REFUSED: nothing was returned; UNKNOWN: staff must check with the gateway
	Ref   string      // the gateway's reference of the refund; empty if not stated
	Code  string      // the gateway's code, or the reason why it was not called
}

// Unreachable is the code of a refund whose gateway did not respond for days. Staff may send it again when the gateway
// is back; whether the state is REFUSED or UNKNOWN depends on Sent.
const Unreachable = "UNREACHABLE"

// ErrGateway is returned if a gateway could not be reached or its response was not understood. Nothing has happened,
// except for a refund, whose outcome is then unknown.
var ErrGateway = &fault.Error{
	Kind: fault.Unavailable, Code: "gateway_unavailable", RetryAfter: 5 * time.Second,
	Detail: "The payment service is not reachable. Please try again or pay at the counter.",
}

// ErrRefused is returned by Gateway.Start if the gateway has refused to create a page. Its cause is a RefusedError if the
// gateway was called.
var ErrRefused = fault.New(fault.Conflict, "payment_refused",
	"The payment service has refused this payment. Please choose another payment method or pay at the counter.")

// RefusedError is the response of a gateway that has refused to create a page.
type RefusedError struct {
	Raw string // as received, without secrets
	Err error  // for the log
}

func (r *RefusedError) Error() string { return r.Err.Error() }

// Unwrap returns the cause.
func (r *RefusedError) Unwrap() error { return r.Err }

// ErrUnsuitable refuses an amount outside a gateway's limits or a currency that it does not support.
var ErrUnsuitable = fault.New(fault.Invalid, "payment_method_unsuitable", "This order cannot be paid with this method.")

// CredentialState is a gateway's judgment of a merchant's credentials.
type CredentialState string

// The states of credentials.
const (
	CredentialsAccepted CredentialState = "ACCEPTED"
	CredentialsRefused  CredentialState = "REFUSED"        // an unknown merchant or a wrong secret
	MerchantInactive    CredentialState = "INACTIVE"       // the merchant exists and may not use the gateway
	AddressRefused      CredentialState = "IP_NOT_ALLOWED" // the gateway does not serve this server's address
	CredentialsUnclear  CredentialState = "UNCLEAR"        // any other response: it proves nothing
)

// CredentialReport is a gateway's response to a request that only tests the credentials. It contains no secret.
type CredentialReport struct {
	State   CredentialState
	Code    string // the gateway's code
	Message string // the gateway's text, cut to 200 bytes
}

// MaxCredentialMessage is the maximum length of CredentialReport.Message in bytes.
const MaxCredentialMessage = 200
