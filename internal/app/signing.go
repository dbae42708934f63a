package app

import (
	"bytes"
	"context"

	"comanda/internal/account"
	"comanda/internal/account/accountsql"
	"comanda/internal/audit"
)

// Purposes of the keys derived from the token key. Withdrawing the token key withdraws them too.
const (
	sealUse   = "comanda redis seal"
	deviceUse = "comanda device mark"
)

// tokenKey returns the key that signs tokens in this installation: the operator's, else the one in SQL. An operator's
// key replaces the one in SQL completely, because that one is in every backup.
func (c Config) tokenKey(keys account.Keys) account.Key {
	if c.TokenKey != "" {
		return account.Key(c.TokenKey)
	}
	return keys.Token
}

// useTokenKey makes this process sign and verify with key. Cached tokens were verified with the key before and are
// forgotten last.
func (k *Core) useTokenKey(key account.Key) error {
	if err := k.tokens.SetKey(key); err != nil {
		return err
	}
	k.tokenKey = key
	k.Redis.UseSealKey(key.Derive(sealUse))
	k.Accounts.Devices.SetKey(key.Derive(deviceUse))
	k.Authenticator.ClearCache()
	return nil
}

// syncTokenKey switches to the new key when the one in SQL was withdrawn. Only its loop and the start use k.tokenKey,
// one after the other, so it needs no lock.
func (k *Core) syncTokenKey(ctx context.Context) error {
	keys, err := accountsql.ReadKeys(ctx, k.DB)
	if err != nil {
		return err
	}
	if key := k.Config.tokenKey(keys); !bytes.Equal(key, k.tokenKey) {
		k.Log.WarnContext(ctx, "security", "event", audit.ActionKeyWithdrawn)
		return k.useTokenKey(key)
	}
	return nil
}
