// Package accountsql stores accounts, sessions, PINs, codes and the installation's keys in SQL.
package accountsql
