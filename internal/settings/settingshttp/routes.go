// Package settingshttp serves the settings of the restaurant to its owner and administrators.
package settingshttp

import (
	"context"
	"time"

	"comanda/internal/authz"
	"comanda/internal/httpapi"
	"comanda/internal/seq"
	"comanda/internal/settings"
)

type routes struct{ service *settings.Service }

// Register adds the routes. By default only administrators and owners have their permissions.
func Register(a *httpapi.API, service *settings.Service) {
	r := routes{service}
	ops := a.Operations("Settings", httpapi.Admin)
	// The settings apply to every branch.
	httpapi.Register(ops, "settings-list", "GET /api/settings", "View the settings", authz.Everywhere(r.list))
	httpapi.Register(ops, "settings-change", "PATCH /api/settings",
		"Change settings, all or none", authz.Everywhere(r.change))
	httpapi.Register(ops, "settings-test", "POST /api/settings/test",
		"Test the settings of a payment provider or of the mail server", authz.Everywhere(r.test))
}

type setting struct {
	Name         string     `json:"name" doc:"Such as payment_window."`
	Variable     string     `json:"variable" doc:"The environment variable of the same setting."`
	Value        string     `json:"value" doc:"The value in use in this process; empty for a secret."`
	Default      string     `json:"default"`
	Source       string     `json:"source" enum:"PROCESS,STORED,DEFAULT" doc:"PROCESS: set by a flag, the environment or a file; it cannot be changed here."`
	IsSecret     bool       `json:"isSecret"`
	IsSet        bool       `json:"isSet"`
	IsUnreadable bool       `json:"isUnreadable" doc:"The stored value cannot be decrypted with the settings key: set it again, or restore the key."`
	NeedsRestart bool       `json:"needsRestart" doc:"The value is in use, but a part of the installation follows only after a restart: for payment_window the timer queue at RabbitMQ."`
	Help         string     `json:"help"`
	UpdatedAt    *time.Time `json:"updatedAt" doc:"When the value was stored; null if it is not stored."`
	UpdatedBy    *string    `json:"updatedBy"`
}

type settingList struct {
	Items []setting `json:"items"`
}

func (r routes) list(ctx context.Context, _ *struct{}) (settingList, error) {
	all, err := r.service.List(ctx)
	return settingList{seq.Map(all, settingOf)}, err
}

func settingOf(s settings.Setting) setting {
	out := setting{
		Name: s.Name, Variable: s.Variable, Value: s.Value, Default: s.Default, Source: string(s.Source),
		IsSecret: s.Secret, IsSet: s.Set, IsUnreadable: s.Unreadable, NeedsRestart: s.Restart, Help: s.Help,
	}
	if !s.At.IsZero() {
		out.UpdatedAt, out.UpdatedBy = &s.At, &s.By
	}
	return out
}

type changeInput struct {
	Body struct {
		Values []newValue `json:"values" minItems:"1" maxItems:"50" doc:"Either all or none are stored."`
	}
}

type newValue struct {
	Name  string  `json:"name" text:"line" maxLength:"60" doc:"As in the list."`
	Value *string `json:"value" text:"line" doc:"null removes the stored value; the default applies again."`
}

// change returns the current settings afterwards.
func (r routes) change(ctx context.Context, in *changeInput) (settingList, error) {
	values := make(map[string]*string, len(in.Body.Values))
	for _, v := range in.Body.Values {
		if _, twice := values[v.Name]; twice {
			return settingList{}, settings.ErrTwice
		}
		values[v.Name] = v.Value
	}
	if err := r.service.Change(ctx, authz.ActorOf(ctx), values); err != nil {
		return settingList{}, err
	}
	return r.list(ctx, nil)
}

// limitTests is the rate-limit policy of tests, by account.
const limitTests = "settings_test"

// mailLocales are the locales of the test message, the default first.
var mailLocales = []string{"en", "vi", "zh-TW"}

type testInput struct {
	AcceptLanguage string `header:"Accept-Language" doc:"Language of the test message."`
	Body           struct {
		Subject  string `json:"subject" enum:"vnpay,linepay,mail" doc:"The service to test, with the saved settings. mail sends a message to the account's own address."`
		BranchID string `json:"branchId,omitempty" pattern:"^[1-9][0-9]{0,17}$" doc:"For mail: sends the message with this branch's sender."`
	}
}

type testResult struct {
	OK     bool   `json:"ok"`
	Code   string `json:"code" enum:"ok,not_set,credentials_refused,account_inactive,ip_not_allowed,message_refused,unreachable,unexpected"`
	Detail string `json:"detail" doc:"A text for people, in English: the service's own code and text, or the recipient of the message."`
}

// test answers 200 even if the test fails, because the request itself has succeeded.
func (r routes) test(ctx context.Context, in *testInput) (testResult, error) {
	by := authz.ActorOf(ctx)
	if err := httpapi.Allow(ctx, limitTests, by.String()); err != nil {
		return testResult{}, err
	}
	o := settings.TestOptions{
		Locale: httpapi.Locale(in.AcceptLanguage, mailLocales...), Branch: httpapi.IDOf(in.Body.BranchID),
	}
	result, err := r.service.Test(ctx, by, settings.TestSubject(in.Body.Subject), o)
	return testResult{result.Code == settings.TestOK, string(result.Code), result.Detail}, err
}
