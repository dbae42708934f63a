package e2e

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/mail"
	"strings"
	"testing"

	"comanda/internal/mail/mailtest"
	"comanda/internal/testenv"
)

// acceptedCodes returns the codes that a mail server accepted for an address, the oldest first, and how often it
// accepted each message to any address, by Message-ID.
func acceptedCodes(t *testing.T, m *mailtest.Server, email string) (codes []string, ids map[string]int) {
	t.Helper()
	ids = map[string]int{}
	messages, _ := m.Messages()
	for _, one := range messages {
		ids[one.Header.Get("Message-Id")]++
		subject := testenv.Must(new(mime.WordDecoder).DecodeHeader(one.Header.Get("Subject")))(t)
		if code := sixDigits.FindString(subject); code != "" && one.Header.Get("To") == "<"+email+">" {
			codes = append(codes, code)
		}
	}
	return codes, ids
}

// mailSettings returns settings for servers that send through m.
func mailSettings(m *mailtest.Server) settings {
	return settings{"SMTP_URL": m.URL(), "MAIL_FROM": "Comanda <no-reply@house.example>"}
}

// A registration's message is sent although a process dies before it sends the message, a process dies with an unknown
// outcome, or the mail server dies. Only with the unknown outcome the message may be sent twice, with the same
// Message-ID.
func TestMail_survives_crashes(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		m := mailtest.Start(t, "127.0.0.1:0", "house", "a planted password")
		s := prepare(t, k, mailSettings(m))
		v := s.first()
		arrived := func(n int) {
			t.Helper()
			s.await(patience, func() error {
				if got, _ := m.Messages(); len(got) != n {
					return fmt.Errorf("%d messages have arrived, want %d", len(got), n)
				}
				return nil
			})
		}

		v.args = []string{"--demo", "--roles", "api"} // a process without the worker sends nothing
		v.start()
		lan := s.registerPerson("lan")
		v.kill()
		arrived(0)
		v.args = []string{"--demo"}
		v.start()
		arrived(1)
		codes, _ := acceptedCodes(t, m, lan.email)
		lan.verify(codes[0]).want(t, http.StatusOK, "")
		arrived(2) // and the welcome message

		<-m.Arrived()
		<-m.Arrived()
		release := m.Hold()
		defer release()
		s.registerPerson("minh")
		<-m.Arrived()
		v.kill() // while it sends the message
		release()
		s.changeRow("UPDATE mail_outbox SET available_at = available_at - 120000") // moves the time on by two minutes
		v.start()
		arrived(4)
		if _, ids := acceptedCodes(t, m, ""); len(ids) != 3 {
			t.Errorf("the message was sent again as another one: %v", ids)
		}
		s.awaitMailsSent()

		addr := m.Addr()
		m.Close()
		const late = 5
		for i := range late {
			s.registerPerson(fmt.Sprint("late", i))
		}
		if n := s.queryNumber("SELECT count(*) FROM mail_outbox WHERE dead = 0"); n != late {
			t.Errorf("%d messages wait", n)
		}
		m = mailtest.Start(t, addr, "house", "a planted password")
		s.awaitMailsSent()
		if got, ids := m.Messages(); len(got) != late {
			t.Errorf("%d messages have arrived: %v", len(got), ids)
		}
		if _, ids := acceptedCodes(t, m, ""); len(ids) != late {
			t.Errorf("%d messages have arrived: %v", len(ids), ids)
		}
	}, embedded, servers)
}

// A member's order is confirmed to the address that was entered with it, and its receipt follows the payment. Nothing is
// sent twice, not even by a broker that delivers an event again after a restart.
func TestMail_order(t *testing.T) {
	onInstallations(t, func(t *testing.T, k kind) {
		m := mailtest.New(t)
		s := open(t, k, mailSettings(m))
		v := s.first()
		await := func(subject string) (found *mail.Message) {
			t.Helper()
			s.await(patience, func() error {
				messages, _ := m.Messages()
				for _, one := range messages {
					if got, _ := new(mime.WordDecoder).DecodeHeader(one.Header.Get("Subject")); strings.HasPrefix(got, subject) {
						found = one
						return nil
					}
				}
				return fmt.Errorf("of %d messages none is %q", len(messages), subject)
			})
			return found
		}
		lan := s.registerPerson("lan")
		await("Mã xác nhận của bạn")
		codes, _ := acceptedCodes(t, m, lan.email)
		s.send(http.MethodPost, "/auth/otp/verify",
			map[string]string{"purpose": "VERIFY", "email": lan.email, "code": codes[0]}, "Accept-Language", "en").
			want(t, http.StatusOK, "") // and this becomes the language of her e-mails
		await("Welcome")
		lan.logIn()

		buyer := member{s, lan.id, lan.access, lan.refresh}
		buyer.addToCart(phoGa, 2).want(t, http.StatusCreated, "")
		var o checkoutResponse
		buyer.send(http.MethodPost, "/cart/checkout", map[string]string{
			"receiverName": "Bà Hoa", "receiverPhone": "0912 345 678", "receiverEmail": "hoa@guests.example", "kind": "PICKUP",
			"paymentMethod": sandbox, "clientTxnId": "key",
		}).want(t, http.StatusCreated, "").into(t, &o)
		received := await("We received your order")
		s.pay(o.OrderID)
		receipt := await("Receipt for your order")
		for name, one := range map[string]*mail.Message{"received": received, "receipt": receipt} {
			body := plainText(one)
			for _, part := range []string{"Hello Bà Hoa,", "2 × ", "Total: ", "/shop/orders/" + o.OrderID} {
				if !strings.Contains(body, part) {
					t.Errorf("%s has no %q:\n%s", name, part, body)
				}
			}
			if one.Header.Get("To") != "<hoa@guests.example>" || one.Header.Get("List-Unsubscribe") != "" {
				t.Errorf("%s has the header %v, want the address of the order and no subscription", name, one.Header)
			}
		}

		v.stop()
		v.start()
		minh := s.registerPerson("minh") // whose code is sent after everything that the restart could repeat
		s.await(patience, func() error {
			if codes, _ := acceptedCodes(t, m, minh.email); len(codes) == 0 {
				return errors.New("no code for Minh")
			}
			return nil
		})
		s.awaitMailsSent()
		if messages, _ := m.Messages(); len(messages) != 5 {
			t.Errorf("%d messages have arrived, want two codes, a welcome, and two about the order", len(messages))
		}
	}, embedded, servers)
}

// awaitMailsSent waits until no message is queued, and expects no dead letter.
func (s *installation) awaitMailsSent() {
	s.t.Helper()
	s.await(patience, func() error {
		if n := s.queryNumber("SELECT count(*) FROM mail_outbox"); n != 0 {
			return fmt.Errorf("%d messages wait", n)
		}
		return nil
	})
}
