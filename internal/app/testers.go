package app

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"syscall"

	"comanda/internal/authz"
	"comanda/internal/mail"
	"comanda/internal/mail/mailout"
	"comanda/internal/payment"
	"comanda/internal/payment/gatewayhttp"
	"comanda/internal/settings"
	"comanda/internal/uid"
)

// mailTestTimeout bounds each of the two parts of sending the test message, so that both fit into settings.TestTimeout.
const mailTestTimeout = settings.TestTimeout / 2

// testers returns the tests of the current settings. A simulated gateway is not tested: its result would reveal
// nothing about the credentials that the owner has entered.
func (k *Core) testers() map[settings.TestSubject]settings.Tester {
	return map[settings.TestSubject]settings.Tester{
		settings.TestVNPay: func(ctx context.Context, _ authz.Actor, _ settings.TestOptions) (settings.TestResult, error) {
			h := k.house.Load()
			if h.config.VNPay.TmnCode == "" || h.merchants.vnpay == nil {
				return h.notSet("vnpay_"), nil
			}
			return credentialResult(h.merchants.vnpay.TestCredentials(ctx)), nil
		},
		settings.TestLINEPay: func(ctx context.Context, _ authz.Actor, _ settings.TestOptions) (settings.TestResult, error) {
			h := k.house.Load()
			if h.config.LINEPay.ChannelID == "" || h.merchants.linePay == nil {
				return h.notSet("linepay_"), nil
			}
			return credentialResult(h.merchants.linePay.TestCredentials(ctx)), nil
		},
		settings.TestMail: k.testMail,
	}
}

// notSet returns the result for settings that are missing, or that the settings key cannot decrypt.
func (h *houseSettings) notSet(prefix string) settings.TestResult {
	lost := slices.DeleteFunc(slices.Clone(h.unreadable), func(name string) bool { return !strings.HasPrefix(name, prefix) })
	if len(lost) > 0 {
		return settings.TestResult{
			Code: settings.TestNotSet, Detail: "the settings key cannot decrypt " + strings.Join(lost, ", "),
		}
	}
	return settings.TestResult{Code: settings.TestNotSet}
}

// credentialCodes maps the gateway's judgment of the credentials to results of a test.
var credentialCodes = map[payment.CredentialState]settings.TestCode{
	payment.CredentialsAccepted: settings.TestOK, payment.CredentialsRefused: settings.TestRefused,
	payment.MerchantInactive: settings.TestInactive, payment.AddressRefused: settings.TestAddressRefused,
	payment.CredentialsUnclear: settings.TestUnexpected,
}

// credentialResult converts a gateway's response, or the error of the request.
func credentialResult(r payment.CredentialReport, err error) settings.TestResult {
	if err == nil {
		return settings.TestResult{Code: credentialCodes[r.State], Detail: strings.TrimSpace(r.Code + " " + r.Message)}
	}
	if why := networkFailure(err); why != "" {
		return settings.TestResult{Code: settings.TestUnreachable, Detail: why}
	}
	result := settings.TestResult{Code: settings.TestUnexpected, Detail: err.Error()}
	// Firewalls in front of the gateways answer 403 to addresses that they do not know.
	if status, ok := errors.AsType[gatewayhttp.StatusError](err); ok {
		result.Detail = status.Error()
		if status == http.StatusForbidden {
			result.Code = settings.TestAddressRefused
		}
	}
	return result
}

// testMail sends a message to the actor's own address, with the same sender as e-mails of the restaurant or of a
// branch. It bypasses the queue, which would retry for hours, because the owner waits for the result.
func (k *Core) testMail(ctx context.Context, by authz.Actor, o settings.TestOptions) (settings.TestResult, error) {
	h := k.house.Load()
	if h.config.SMTPURL == "" {
		return h.notSet("smtp_"), nil
	}
	if o.Branch != 0 {
		if _, err := k.Branches.Branch(ctx, by, o.Branch); err != nil {
			return settings.TestResult{}, err
		}
	}
	from, err := k.mailSender(ctx, o.Branch)
	if err != nil {
		return settings.TestResult{}, err
	}
	user, err := k.AccountStore.User(ctx, by.UserID)
	if err != nil {
		return settings.TestResult{}, err
	}
	c := h.config.mail()
	c.Timeout = mailTestTimeout
	transport, err := mailout.NewSMTP(c)
	if err != nil {
		return settings.TestResult{}, err
	}
	m, err := mail.Render("test", o.Locale, map[string]string{"name": user.Greeting()})
	if err != nil {
		return settings.TestResult{}, err
	}
	m.Date = k.DB.Now()
	m.ID, m.To, m.From = uid.New(m.Date), user.Email, from
	if err := transport.Send(ctx, m); err != nil {
		return mailFailure(err), nil
	}
	return settings.TestResult{Code: settings.TestOK, Detail: user.Email}, nil
}

// mailFailure converts an error of the transport. Other texts of the mail server are left out, because a server may
// quote the message or the password (E3).
func mailFailure(err error) settings.TestResult {
	result := settings.TestResult{Code: settings.TestUnexpected}
	if reply, ok := errors.AsType[*mail.ReplyError](err); ok {
		result.Detail = reply.Error()
	}
	switch {
	case errors.Is(err, mail.ErrLogin):
		result.Code = settings.TestRefused
	case errors.Is(err, mail.ErrRefused):
		result.Code = settings.TestMessageRefused
	case errors.Is(err, mail.ErrUnreachable):
		result.Code = settings.TestUnreachable
		if result.Detail = networkFailure(err); result.Detail == "" {
			result.Detail = "no connection that is encrypted and complete"
		}
	}
	return result
}

// networkFailure describes why a server could not be reached, and returns "" for an error of another kind. It does not
// quote the error, which contains addresses.
func networkFailure(err error) string {
	var (
		timeout net.Error
		dns     *net.DNSError
		cert    *tls.CertificateVerificationError
		record  tls.RecordHeaderError
		request *url.Error
	)
	switch {
	case errors.As(err, &cert):
		return "the certificate is not valid"
	case errors.As(err, &record):
		return "the server does not answer with TLS"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "no answer in time"
	case errors.As(err, &dns):
		return "the host name is unknown"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "the connection was refused"
	case errors.As(err, &request), errors.As(err, &timeout), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "the connection broke"
	}
	return ""
}
