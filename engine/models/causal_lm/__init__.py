"""Decoder-only language models of the Llama and Qwen3 kind, for the workspace street."""
