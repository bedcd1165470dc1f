"""Training: backbones and hash heads fitted to labels; the objectives behind them. See README.md."""
