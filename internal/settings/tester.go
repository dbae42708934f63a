package settings

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// TestTimeout bounds a test of settings. It is shorter than the deadline of a request (8 s), so that the result can be
// recorded and returned in time.
const TestTimeout = 6 * time.Second

// recordTimeout bounds the write of a result, which happens even if the client has gone: a test may have sent a message.
const recordTimeout = 5 * time.Second

// ErrSubject refuses a test of an unknown subject.
var ErrSubject = fault.New(fault.Invalid, "setting_subject_unknown", "Test not found.")

// TestSubject is an external service whose settings can be tested.
type TestSubject string

// The subjects.
const (
	TestVNPay   TestSubject = "vnpay"
	TestLINEPay TestSubject = "linepay"
	TestMail    TestSubject = "mail"
)

// TestCode is the result of a test. Codes are stable; the console translates them.
type TestCode string

// The codes of results.
const (
	TestOK             TestCode = "ok"
	TestNotSet         TestCode = "not_set"             // nothing to test, or a secret that the key cannot decrypt
	TestRefused        TestCode = "credentials_refused" // reached; it refuses the credentials
	TestInactive       TestCode = "account_inactive"    // reached; the account exists and may not be used
	TestAddressRefused TestCode = "ip_not_allowed"      // reached; it does not serve this server's address
	TestMessageRefused TestCode = "message_refused"     // the mail server refuses the sender or the recipient
	TestUnreachable    TestCode = "unreachable"         // no connection, or no response in time
	TestUnexpected     TestCode = "unexpected"          // a response that proves nothing
)

// TestResult is the result of a test. Detail is for people, in English, such as the service's own code and text; for a
// sent message it is the recipient. It never contains a secret.
type TestResult struct {
	Code   TestCode
	Detail string
}

// TestOptions are the parameters of a test of the mail server.
type TestOptions struct {
	Locale string // locale of the message to the actor
	Branch int64  // branch whose sender it has; 0 for the restaurant's sender
}

// Tester tests the current settings of one subject. It may call the network, and returns before ctx ends.
type Tester func(ctx context.Context, by authz.Actor, o TestOptions) (TestResult, error)

// Test tests the settings of a subject that this process currently uses, and records the actor and the code of the
// result. It calls the service before any transaction begins, and waits TestTimeout at most.
func (s *Service) Test(ctx context.Context, by authz.Actor, subject TestSubject, o TestOptions) (TestResult, error) {
	test, ok := s.Testers[subject]
	if !ok {
		return TestResult{}, ErrSubject
	}
	limited, cancel := context.WithTimeout(ctx, TestTimeout)
	defer cancel()
	result, err := test(limited, by, o)
	if err != nil {
		return TestResult{}, err
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return result, s.Store.RecordTest(recording, by, s.Now(), subject, result.Code)
}
