// Package settings manages the settings that belong to the restaurant and that its owner changes in the console: the public
// URL, payment windows, the mail server and the accounts at payment gateways. They are stored in SQL. A value that a
// process gets from a flag, the environment or its configuration file takes precedence over the stored one.
//
// Secrets are stored encrypted (AES-256-GCM). The key is never in SQL, so a backup of the database does not reveal them.
// Without the key the encrypted values are unreadable: what needs them is off, and everything else works.
package settings

import (
	"context"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"comanda/internal/authz"
	"comanda/internal/fault"
)

// MaxValue is the maximum length of a value in bytes.
const MaxValue = 1000

// The faults of this package.
var (
	ErrUnknown = fault.New(fault.Invalid, "setting_unknown", "Setting not found.")
	ErrTwice   = fault.New(fault.Invalid, "setting_twice", "The request changes a setting twice.")
	ErrFixed   = fault.New(fault.Conflict, "setting_fixed",
		"This setting is set by the server's environment, flags or configuration file.")
	ErrKey = fault.New(fault.Unavailable, "settings_key_missing",
		"The key that encrypts secrets is not available. Check COMANDA_SETTINGS_KEY or COMANDA_SETTINGS_KEY_FILE.")
)

// Source is the origin of the current value of a setting.
type Source string

// The sources of a value, by precedence.
const (
	FromProcess Source = "PROCESS" // a flag, the environment or the configuration file
	FromStore   Source = "STORED"
	FromDefault Source = "DEFAULT"
)

// Definition describes a setting.
type Definition struct {
	Name     string // such as payment_window
	Variable string // the environment variable, such as COMANDA_PAYMENT_WINDOW
	Default  string
	Help     string
	Secret   bool // encrypted when stored, and never shown
	Fixed    bool // this process has a value from elsewhere
}

// Row is a stored setting. The value of a secret is encrypted.
type Row struct {
	Name      string
	Value     string
	Encrypted bool
	At        time.Time
	By        string // authz.Actor.String()
}

// Store stores settings; settingssql implements it.
type Store interface {
	Rows(ctx context.Context) ([]Row, error)
	// Change calls decide with the rows, which no other change can modify meanwhile, and stores its result: rows to
	// write, and names of rows to delete. It records the names in the audit log. It changes nothing if decide fails.
	Change(ctx context.Context, by authz.Actor, now time.Time,
		decide func([]Row) (write []Row, remove []string, err error)) error
	// RecordTest records a test of settings and its result in the audit log.
	RecordTest(ctx context.Context, by authz.Actor, now time.Time, subject TestSubject, code TestCode) error
}

// Values are the stored settings.
type Values struct {
	ByName     map[string]string // opened
	Unreadable []string          // encrypted with another key, ascending
	Rest       map[string]string // plain rows that belong to no definition, such as the row of package brand
}

// Setting is a setting in the form in which the owner sees it.
type Setting struct {
	Definition

	Value      string // the current value; empty for a secret
	Source     Source
	Set        bool // the value is not empty
	Unreadable bool
	Restart    bool      // a part of the installation uses the value only after its next start
	At         time.Time // time of the last change; zero if there is no stored value
	By         string
}

// Service reads and changes settings. It is safe for concurrent use.
type Service struct {
	Store       Store
	Definitions []Definition
	// Encrypt and Decrypt convert secrets. The name is authenticated: Decrypt fails under another name. Encrypt returns
	// ErrKey if there is no key.
	Encrypt func(name, value string) (string, error)
	Decrypt func(name, encrypted string) (string, error)
	// Check returns an error if the server could not work with the stored values.
	Check func(Values) error
	// InForce returns the current values of this process, by name.
	InForce func() map[string]string
	// NeedsRestart reports whether a part of this process still works with the value that a setting had at its start; nil
	// for none.
	NeedsRestart func(name string) bool
	// Changed is called after a commit, so that this process applies the change at once. Others poll.
	Changed func(ctx context.Context) error
	Testers map[TestSubject]Tester
	Now     func() time.Time
}

// Load returns the stored values.
func (s *Service) Load(ctx context.Context) (Values, error) {
	rows, err := s.Store.Rows(ctx)
	return s.decrypt(rows), err
}

// decrypt decrypts the encrypted values of rows. Rows without a definition are not settings of this release: they
// belong to another package, or a newer release has written them.
func (s *Service) decrypt(rows []Row) Values {
	v := Values{ByName: make(map[string]string, len(rows)), Rest: map[string]string{}}
	for _, r := range rows {
		if _, ok := s.definition(r.Name); !ok {
			if !r.Encrypted {
				v.Rest[r.Name] = r.Value
			}
			continue
		}
		value, err := r.Value, error(nil)
		if r.Encrypted {
			value, err = s.Decrypt(r.Name, r.Value)
		}
		if err != nil {
			v.Unreadable = append(v.Unreadable, r.Name)
			continue
		}
		v.ByName[r.Name] = value
	}
	slices.Sort(v.Unreadable)
	return v
}

func (s *Service) definition(name string) (Definition, bool) {
	i := slices.IndexFunc(s.Definitions, func(d Definition) bool { return d.Name == name })
	if i < 0 {
		return Definition{}, false
	}
	return s.Definitions[i], true
}

// List returns all settings in the order of their definitions.
func (s *Service) List(ctx context.Context) ([]Setting, error) {
	rows, err := s.Store.Rows(ctx)
	if err != nil {
		return nil, err
	}
	stored, values := s.decrypt(rows), s.InForce()
	all := make([]Setting, len(s.Definitions))
	for i, d := range s.Definitions {
		one := Setting{
			Definition: d, Value: values[d.Name], Set: values[d.Name] != "", Source: FromDefault,
			Unreadable: slices.Contains(stored.Unreadable, d.Name), Restart: s.NeedsRestart != nil && s.NeedsRestart(d.Name),
		}
		if j := slices.IndexFunc(rows, func(r Row) bool { return r.Name == d.Name }); j >= 0 {
			one.Source, one.At, one.By = FromStore, rows[j].At, rows[j].By
		}
		if d.Fixed {
			one.Source = FromProcess
		}
		if d.Secret {
			one.Value = ""
		}
		all[i] = one
	}
	return all, nil
}

// Change stores values by name; nil removes a stored value. All values change together, so that an account at a
// gateway is never stored incompletely. For a value that the process itself has set, Change returns ErrFixed.
func (s *Service) Change(ctx context.Context, by authz.Actor, values map[string]*string) error {
	now := s.Now()
	err := s.Store.Change(ctx, by, now, func(rows []Row) (write []Row, remove []string, err error) {
		after := s.decrypt(rows)
		for name, value := range values {
			d, ok := s.definition(name)
			switch {
			case !ok:
				return nil, nil, invalid(ErrUnknown.Code, "Setting %q not found.", name)
			case d.Fixed:
				return nil, nil, fault.Newf(ErrFixed.Kind, ErrFixed.Code,
					"The setting %s is set by the server's environment, flags or configuration file.", name)
			}
			after.Unreadable = slices.DeleteFunc(after.Unreadable, func(n string) bool { return n == name })
			if value == nil || *value == "" {
				delete(after.ByName, name)
				remove = append(remove, name)
				continue
			}
			if len(*value) > MaxValue || !utf8.ValidString(*value) {
				return nil, nil, refused(fault.InField(name, "too_long",
					fmt.Errorf("must have at most %d bytes", MaxValue)))
			}
			row := Row{Name: name, Value: *value, Encrypted: d.Secret, At: now, By: by.String()}
			if d.Secret {
				if row.Value, err = s.Encrypt(name, *value); err != nil {
					return nil, nil, err
				}
			}
			after.ByName[name] = *value
			write = append(write, row)
		}
		if err := s.Check(after); err != nil {
			// The message never contains a secret; see the checks of package app.
			return nil, nil, refused(err)
		}
		return write, remove, nil
	})
	if err != nil {
		return err
	}
	return s.Changed(ctx)
}

// refused returns the fault of values that the server could not work with, with a code for each setting that is wrong.
// Its detail names the first one.
func refused(err error) error {
	detail := fault.PublicText(err)
	if fields := fault.FieldsOf(err); len(fields) > 0 {
		detail = fields[0].Sentence()
	}
	return fault.New(fault.Invalid, "setting_invalid", detail).WithFields(err)
}

func invalid(code, format string, args ...any) error {
	return fault.Newf(fault.Invalid, code, format, args...)
}

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
