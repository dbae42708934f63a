package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"comanda/internal/account"
	"comanda/internal/brand"
	"comanda/internal/fault"
	"comanda/internal/mail"
	"comanda/internal/ordering"
	"comanda/internal/payment"
	"comanda/internal/settings"
	"comanda/internal/settings/settingssql"
	"comanda/internal/sqldb"
	"comanda/internal/worker"
)

// The settings that the owner may change are stored in SQL and change while servers run. Each process
// applies them over its own configuration: values from a flag, the environment or its file take precedence.

// houseSettings are the current settings of a process. A change replaces all of them at once.
type houseSettings struct {
	config     Config
	merchants  merchants
	orders     ordering.Settings
	brand      brand.Brand
	mail       mail.Transport
	stored     settings.Values
	unreadable []string // names of values that cannot be decrypted, because the settings key is missing or another one
}

// houseName returns the name of a setting in SQL and in the API: payment_window for COMANDA_PAYMENT_WINDOW.
func (s setting) houseName() string { return strings.ToLower(strings.TrimPrefix(s.Name, "COMANDA_")) }

// accountPrefixes begin the names of settings that are only useful together. If a secret of an account is unreadable,
// none of its stored settings applies, because an incomplete account would be refused as a mistake of the
// configuration.
var accountPrefixes = []string{"vnpay_", "linepay_", "smtp_"}

// withStored returns the configuration with the stored settings applied to it.
func (c Config) withStored(v settings.Values) (Config, error) {
	lost := func(name string) bool {
		return slices.ContainsFunc(accountPrefixes, func(prefix string) bool {
			return strings.HasPrefix(name, prefix) &&
				slices.ContainsFunc(v.Unreadable, func(u string) bool { return strings.HasPrefix(u, prefix) })
		})
	}
	if c.derivedCounter {
		c.CounterWindow, c.derivedCounter = 0, false
	}
	for _, s := range variables {
		value, ok := v.ByName[s.houseName()]
		if !s.house || !ok || c.given[s.Name] || lost(s.houseName()) {
			continue
		}
		if err := s.set(&c, value); err != nil {
			return c, fault.InField(s.houseName(), "no_value", err)
		}
		if s.Name == "COMANDA_PUBLIC_URL" {
			c.DerivedURL = false
		}
	}
	c, err := c.completed()
	if err != nil {
		return c, err
	}
	// Of the settings that validateReach compares, the owner can change only the public URL.
	return c, fault.InField("public_url", "trial_only", c.validateReach())
}

// houseDefinitions returns the settings that this process allows to store.
func (c Config) houseDefinitions() []settings.Definition {
	var all []settings.Definition
	for _, s := range variables {
		if s.house {
			all = append(all, settings.Definition{
				Name: s.houseName(), Variable: s.Name, Default: s.Default, Help: s.Help, Secret: s.secret, Fixed: c.given[s.Name],
			})
		}
	}
	return all
}

// settingsService returns the service of the stored settings. changed runs after each change.
func (c Config) settingsService(
	db *sqldb.DB, inForce func() Config, changed func(context.Context) error,
) *settings.Service {
	return &settings.Service{
		Store: settingssql.New(db), Definitions: c.houseDefinitions(), Now: db.Now,
		Encrypt: c.encryptSetting, Decrypt: c.decryptSetting,
		Changed: changed,
		Check: func(v settings.Values) error {
			_, err := c.withStored(v)
			return err
		},
		InForce: func() map[string]string {
			now, values := inForce(), map[string]string{}
			for _, s := range variables {
				if s.house {
					values[s.houseName()] = s.get(&now)
				}
			}
			return values
		},
	}
}

// WithStored returns the configuration with the stored settings of the restaurant, for commands.
func (c Config) WithStored(ctx context.Context, db *sqldb.DB) (Config, error) {
	v, err := c.settingsService(db, nil, nil).Load(ctx)
	if err != nil {
		return c, err
	}
	return c.withStored(v)
}

// settingsUse is the authenticated purpose of encrypted settings.
const settingsUse = "comanda setting "

// keyFile returns the file with the settings key.
func (c Config) keyFile() string {
	return cmp.Or(c.SettingsKeyFile, filepath.Join(c.DataDir, "settings.key"))
}

// settingsKey returns the key that encrypts secrets, or settings.ErrKey. It reads the file at each call, so that an
// operator who restores a lost key need not restart the server.
func (c Config) settingsKey() (account.Key, error) {
	text := string(c.SettingsKey)
	if text == "" {
		data, err := os.ReadFile(c.keyFile())
		if err != nil {
			return nil, settings.ErrKey.Because(err)
		}
		text = strings.TrimSpace(string(data))
	}
	if len(text) < minToken {
		return nil, settings.ErrKey.Because(fmt.Errorf("the key has less than %d characters", minToken))
	}
	return account.Key(text).Derive("comanda settings"), nil
}

// createKey writes a new key to the default file. It never replaces a key, because values encrypted with that key would
// be lost. An incomplete one is removed, as on a full disk: it would count as a key.
func (c Config) createKey() error {
	if c.SettingsKey != "" || c.SettingsKeyFile != "" {
		return nil
	}
	f, err := os.OpenFile(c.keyFile(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return settings.ErrKey.Because(err)
	}
	key := make([]byte, account.KeyBytes)
	_, _ = rand.Read(key) // never fails since Go 1.24
	_, err = fmt.Fprintln(f, hex.EncodeToString(key))
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return settings.ErrKey.Because(errors.Join(err, os.Remove(c.keyFile())))
	}
	return nil
}

func (c Config) encryptSetting(name, value string) (string, error) {
	if err := c.createKey(); err != nil {
		return "", err
	}
	key, err := c.settingsKey()
	if err != nil {
		return "", err
	}
	return account.Encrypt(key, settingsUse+name, value)
}

func (c Config) decryptSetting(name, encrypted string) (string, error) {
	key, err := c.settingsKey()
	if err != nil {
		return "", err
	}
	return account.Decrypt(key, settingsUse+name, encrypted)
}

// newHouseSettings creates the services that depend on the stored settings. It opens no connection.
func (k *Core) newHouseSettings(v settings.Values) (*houseSettings, error) {
	c, err := k.Config.withStored(v)
	if err != nil {
		return nil, err
	}
	h := &houseSettings{config: c, stored: v, unreadable: v.Unreadable}
	if h.brand, err = brand.Parse(v.Rest[brand.Row]); err != nil {
		return nil, err
	}
	if h.merchants, err = k.gateways.merchants(c); err != nil {
		return nil, err
	}
	if h.mail, err = c.mailTransport(); err != nil {
		return nil, err
	}
	h.orders = ordering.Settings{
		Config: c.orders(), Gateways: h.merchants.byMethod(),
		Methods:  payment.NewMethods(h.merchants.methods(c.SandboxPayments)...),
		ReturnTo: c.PublicURL,
	}
	return h, nil
}

// wireSettings reads the stored settings and applies them. A stored value that contradicts the environment fails the
// start, like two variables of the environment that contradict each other.
func (k *Core) wireSettings(ctx context.Context) error {
	k.Settings = k.Config.settingsService(k.DB, func() Config { return k.house.Load().config }, k.syncSettings)
	k.Settings.Testers = k.testers()
	k.Settings.NeedsRestart = k.needsRestart
	v, err := k.Settings.Load(ctx)
	if err != nil {
		return err
	}
	h, err := k.newHouseSettings(v)
	if err != nil {
		return fmt.Errorf("stored settings: %w", err)
	}
	k.house.Store(h)
	k.startWindow = h.config.PaymentWindow
	return nil
}

// needsRestart reports whether a part of this process uses the value that a setting had at the start. RabbitMQ's timer
// queue does, because its arguments are declared once. Orders expire by the current value nevertheless.
func (k *Core) needsRestart(name string) bool {
	return name == "payment_window" && k.Config.AMQPURL != "" && k.house.Load().config.PaymentWindow != k.startWindow
}

// onSettings registers a function that applies changed settings to a part that does not read them itself. Call it
// before the loops start.
func (k *Core) onSettings(apply func(*houseSettings) error) { k.followers = append(k.followers, apply) }

// syncSettings applies the stored settings if they have changed. The loop and the requests that change settings call
// it.
func (k *Core) syncSettings(ctx context.Context) error {
	k.applying.Lock()
	defer k.applying.Unlock()
	v, err := k.Settings.Load(ctx)
	if err != nil {
		return err
	}
	current := k.house.Load().stored
	same := maps.Equal(current.ByName, v.ByName) && slices.Equal(current.Unreadable, v.Unreadable) &&
		maps.Equal(current.Rest, v.Rest)
	if same && !k.unapplied {
		return nil
	}
	h, err := k.newHouseSettings(v)
	if err != nil {
		return err
	}
	k.house.Store(h)
	if !same {
		k.Log.InfoContext(ctx, "settings changed", "settings", h.config.Redacted(), "unreadable", h.unreadable)
	}
	for _, apply := range k.followers {
		err = errors.Join(err, apply(h))
	}
	k.unapplied = err != nil // the next round applies them again
	return err
}

// settingsLoop applies settings that another process has changed.
func (k *Core) settingsLoop() worker.Loop {
	return worker.Loop{Name: "settings", Run: k.syncSettings, Every: 2 * time.Second, Timeout: 3 * time.Second}
}

// checkSettings fails while encrypted settings are unreadable: the gateways that need them are off.
func (k *Core) checkSettings(context.Context) error {
	return unreadable(k.house.Load().unreadable)
}

// unreadable returns an error that names stored settings encrypted with another key, or nil if there are none.
func unreadable(names []string) error {
	if len(names) == 0 {
		return nil
	}
	return fmt.Errorf("the settings key cannot decrypt %s", strings.Join(names, ", "))
}

// ages returns the ages of kitchen tickets that screens mark.
func (k *Core) ages() (warn, late time.Duration) {
	c := k.house.Load().config
	return c.TicketWarn, c.TicketLate
}

// publicURL returns the URL under which guests reach the server.
func (k *Core) publicURL() string { return k.house.Load().config.PublicURL }

// houseMail sends with the current transport.
type houseMail struct{ core *Core }

// Send implements mail.Transport.
func (m houseMail) Send(ctx context.Context, message mail.Message) error {
	return m.core.house.Load().mail.Send(ctx, message)
}
