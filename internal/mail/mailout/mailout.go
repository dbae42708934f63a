// Package mailout delivers messages to an SMTP server, or into a folder if none is configured.
package mailout

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"comanda/internal/fault"
	"comanda/internal/mail"
	"comanda/internal/telemetry"
	"comanda/internal/text"
)

// Config is the address of the mail server and of the sender.
type Config struct {
	URL  telemetry.Secret // smtp://user:password@host:587 or smtps://...:465
	From string           // "Name <no-reply@restaurant.example>", for messages without a sender of their own
	// Timeout bounds each of the two parts of sending: the connection with its login, and the message. Default 30 s.
	Timeout time.Duration
}

// SMTP is mail.Transport by a mail server. It keeps no connection between messages and is safe for concurrent use.
type SMTP struct {
	host    string
	options []gomail.Option
	from    fromAddress
}

// NewSMTP returns a transport. smtps:// uses TLS from the start, smtp:// STARTTLS, which is required unless the server
// is on this machine.
func NewSMTP(c Config) (*SMTP, error) {
	from, err := parseFrom(c.From)
	if err != nil {
		return nil, err
	}
	u, err := url.Parse(string(c.URL))
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" {
		// The error does not quote the address, which may contain a password.
		return nil, fault.InField("smtp_url", "no_mail_server",
			errors.New("must be the URL of a mail server, such as smtp://mail.house.example:587 or smtps://mail.house.example"))
	}
	timeout := cmp.Or(c.Timeout, mail.SendTimeout)
	options := []gomail.Option{gomail.WithTimeout(timeout), gomail.WithHELO(from.Domain())}
	s := &SMTP{host: u.Hostname(), from: from, options: options}
	s.encrypt(u.Scheme)
	if p := u.Port(); p != "" {
		n, err := strconv.Atoi(p)
		if err != nil {
			return nil, fault.InField("smtp_url", "no_mail_server",
				errors.New("must have a number as its port"))
		}
		s.options = append(s.options, gomail.WithPort(n))
	}
	if name := u.User.Username(); name != "" {
		password, _ := u.User.Password()
		s.options = append(s.options, gomail.WithUsername(name), gomail.WithPassword(password),
			gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover))
	}
	if _, err = gomail.NewClient(s.host, s.options...); err != nil {
		err = fmt.Errorf("must have a valid host and port: %w", err)
	}
	return s, fault.InField("smtp_url", "no_mail_server", err)
}

// encrypt sets TLS and the default port. STARTTLS is optional on loopback only, where the connection never leaves the
// machine.
func (s *SMTP) encrypt(scheme string) {
	policy := gomail.TLSMandatory
	if ip := net.ParseIP(s.host); s.host == "localhost" || ip != nil && ip.IsLoopback() {
		policy = gomail.TLSOpportunistic
	}
	if scheme == "smtps" {
		s.options = append(s.options, gomail.WithSSL(), gomail.WithPort(gomail.DefaultPortSSL))
	} else {
		s.options = append(s.options, gomail.WithTLSPolicy(policy), gomail.WithPort(gomail.DefaultPortTLS))
	}
	s.options = append(s.options, gomail.WithTLSConfig(&tls.Config{ServerName: s.host, MinVersion: tls.VersionTLS12}))
}

// Send implements mail.Transport. It limits the whole exchange, because a server that accepts the connection may still
// never reply.
func (s *SMTP) Send(ctx context.Context, m mail.Message) error {
	ctx, cancel := context.WithTimeout(ctx, mail.SendTimeout)
	defer cancel()
	msg, err := s.from.compose(m)
	if err != nil {
		return err
	}
	client, err := gomail.NewClient(s.host, s.options...)
	if err != nil {
		return fmt.Errorf("mailout: %w", err)
	}
	if err := client.DialWithContext(ctx); err != nil {
		return dialError(err)
	}
	err = client.Send(msg)
	_ = client.Close() // the server has replied already
	// A server may end the connection as soon as it has accepted a message. It would be sent again and again otherwise.
	if msg.IsDelivered() {
		return nil
	}
	return sendError(err)
}

// sendError keeps only the numeric codes of a failure: the server's text may quote the message (E3).
func sendError(err error) error {
	var f *gomail.SendError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f):
		return fmt.Errorf("%w: the connection broke", mail.ErrUnreachable)
	case f.ErrorCode() == 0:
		return fmt.Errorf("%w: %s", mail.ErrUnreachable, f.Reason)
	}
	reply := &mail.ReplyError{Code: f.ErrorCode(), Enhanced: f.EnhancedStatusCode()}
	switch {
	case f.IsTemp():
		return fmt.Errorf("mailout: the server replied %w", reply)
	case concernsLogin(reply.Code):
		return fmt.Errorf("%w: %w: %w", mail.ErrRefused, mail.ErrLogin, reply)
	}
	return fmt.Errorf("%w: %w", mail.ErrRefused, reply)
}

// dialError adds ErrLogin if the server was reached and the login failed.
func dialError(err error) error {
	if errors.Is(err, gomail.ErrNoSupportedAuthDiscovered) {
		return fmt.Errorf("%w: %w: it offers none", mail.ErrUnreachable, mail.ErrLogin)
	}
	if reply, ok := errors.AsType[*textproto.Error](err); ok && concernsLogin(reply.Code) {
		return fmt.Errorf("%w: %w: %w", mail.ErrUnreachable, mail.ErrLogin, &mail.ReplyError{Code: reply.Code})
	}
	return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
}

// concernsLogin reports whether a reply is about the login (RFC 4954): it is required (530), its mechanism too weak (534,
// 538), or the credentials refused (535).
func concernsLogin(code int) bool { return slices.Contains([]int{530, 534, 535, 538}, code) }

// fromAddress is the sender of messages that have no sender of their own.
type fromAddress struct{ text.Mailbox }

// parseFrom parses the sender. The error does not quote the setting; only its form is shown.
func parseFrom(from string) (fromAddress, error) {
	m, err := text.ParseMailbox(from)
	if err != nil {
		return fromAddress{}, fault.InField("mail_from", "no_sender",
			errors.New("must be an address such as House <no-reply@house.example>"))
	}
	return fromAddress{m}, nil
}

// compose encodes a message. Addresses are parsed and headers encoded, so that nothing in them can end a line (E4).
func (s fromAddress) compose(m mail.Message) (*gomail.Msg, error) {
	to, err := netmail.ParseAddress(m.To)
	if err != nil || to.Address != m.To {
		return nil, fmt.Errorf("%w: the recipient is not an address", mail.ErrRefused)
	}
	from := text.Mailbox{Name: cmp.Or(m.From.Name, s.Name), Address: cmp.Or(m.From.Address, s.Address)}
	msg := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	// The parsed address is passed, because a name may contain quotes, which a formatted address would have to escape.
	msg.FromMailAddress(&netmail.Address{Name: from.Name, Address: from.Address})
	if err := msg.To(to.Address); err != nil {
		return nil, fmt.Errorf("%w: an address cannot be written", mail.ErrRefused)
	}
	msg.Subject(m.Subject)
	msg.SetDateWithValue(m.Date)
	msg.SetMessageIDWithValue(m.ID + "@" + from.Domain())
	// RFC 3834: mail programs then send no absence notes in reply.
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	if m.Unsubscribe != "" {
		msg.SetGenHeader(gomail.HeaderListUnsubscribe, "<"+m.Unsubscribe+">")
		if strings.HasPrefix(m.Unsubscribe, "https://") {
			msg.SetGenHeader(gomail.HeaderListUnsubscribePost, "List-Unsubscribe=One-Click")
		}
	}
	msg.SetBodyString(gomail.TypeTextPlain, m.Text)
	msg.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	return msg, nil
}

// Folder is mail.Transport for an installation without a mail server: each message becomes a file that mail programs
// open. The files contain codes, so only their owner may read them.
type Folder struct {
	dir  string
	from fromAddress
}

// NewFolder returns a transport into dir, which is created with the first message.
func NewFolder(dir, from string) (*Folder, error) {
	s, err := parseFrom(from)
	return &Folder{dir, s}, err
}

// Send implements mail.Transport. Sending a message again replaces its file.
func (f *Folder) Send(_ context.Context, m mail.Message) error {
	msg, err := f.from.compose(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
	}
	var b strings.Builder
	if _, err := msg.WriteTo(&b); err != nil {
		return fmt.Errorf("mailout: %w", err)
	}
	path := filepath.Join(f.dir, m.ID+".eml") // ids are created by Comanda, so they contain no separator
	if err := os.WriteFile(path+".new", []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
	}
	if err := os.Rename(path+".new", path); err != nil { // atomic: readers see complete messages only
		return fmt.Errorf("%w: %w", mail.ErrUnreachable, err)
	}
	return nil
}
