package account

import (
	"slices"
	"time"
)

// youngAccount is the age below which logins from new devices cause no e-mail: people register and then log in.
const youngAccount = time.Hour

// newDeviceEmail returns the e-mail about a login from a device without a device cookie, or nil. A device whose entry has
// become invalid because the password changed is not new. Accounts without a verified address get no e-mail.
func (a *Service) newDeviceEmail(u User, c Caller) *Email {
	now := a.Now()
	if u.Email == "" || !u.Registered || now.Sub(u.CreatedAt) < youngAccount {
		return nil
	}
	if slices.ContainsFunc(a.Devices.parse(c.DeviceCookie, now), func(m deviceEntry) bool { return m.user == u.ID }) {
		return nil
	}
	return &Email{
		To: u.Email, Template: TemplateNewDevice, Locale: c.Locale, Expires: now.Add(noticeTTL),
		Fields: map[string]string{FieldName: u.Greeting(), FieldDevice: c.DeviceName},
	}
}
